import { dropOldest } from '../../src/core/record.ts'
import { defineResource } from '../kernel/resource.ts'
import type { SharedPage } from './shared-page.ts'

/** Finished public pages by path and query as sent, all dropped when anything they may show has changed. */
export type PageCache = {
  get(url: string): SharedPage | undefined
  /** Keeps a page unless something changed since `version` was read. */
  set(url: string, page: SharedPage, version: number): void
  version(): number
  drop(): void
}

export const pageCache = defineResource<PageCache>('page-cache')

export function createPageCache(maxPages: number): PageCache {
  const pages = new Map<string, SharedPage>()
  let version = 0
  return {
    get: (url) => pages.get(url),
    set(url, page, builtAt) {
      if (builtAt !== version) return
      if (pages.size >= maxPages) dropOldest(pages)
      pages.set(url, page)
    },
    version: () => version,
    drop() {
      version += 1
      pages.clear()
    },
  }
}
