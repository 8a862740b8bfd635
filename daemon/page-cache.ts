import type { Encoded } from './handler.ts'

/** Finished public pages by query, all dropped when anything they may show has changed. */
export type PageCache = {
  get(key: string): Encoded | undefined
  /** Keeps a page unless something changed since `version` was read. */
  set(key: string, page: Encoded, version: number): void
  version(): number
  drop(): void
}

export function createPageCache(maxPages: number): PageCache {
  const pages = new Map<string, Encoded>()
  let version = 0
  return {
    get: (key) => pages.get(key),
    set(key, page, builtAt) {
      if (builtAt !== version) return
      if (pages.size >= maxPages) pages.delete(pages.keys().next().value as string) // oldest first; size > 0
      pages.set(key, page)
    },
    version: () => version,
    drop() {
      version += 1
      pages.clear()
    },
  }
}
