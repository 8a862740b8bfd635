import { gzipSync } from 'node:zlib'
import { dropOldest } from '../../src/core/record.ts'
import { defineResource } from '../kernel/context.ts'
import { JSON_TYPE } from './exchange.ts'
import { validatorOf } from './handler.ts'

/** A cached public page, plain and as gzip, with its header lines. */
export type SharedPage = ReturnType<typeof sharedPage>
/** `head`: names and values alternate. */
type Form = { readonly head: readonly string[]; readonly body: Buffer }

/** Smaller bodies gain nothing from compression. */
export const MIN_GZIP_BYTES = 1_024

export function sharedPage(bytes: Buffer) {
  const etag = validatorOf(bytes)
  const formOf = (body: Buffer, more: readonly string[] = []): Form => ({
    head: ['Content-Type', JSON_TYPE, 'ETag', etag, ...more, 'Content-Length', String(body.length)],
    body,
  })
  const plain = formOf(bytes)
  let gzip: Form | undefined
  return {
    etag,
    plain,
    gzip: () => {
      gzip ??= bytes.length < MIN_GZIP_BYTES ? plain : formOf(gzipSync(bytes), ['Content-Encoding', 'gzip'])
      return gzip
    },
  }
}

/** Cached public pages by path and query. After a change of data that any page shows, all pages are dropped. */
export type PageCache = {
  get(url: string): SharedPage | undefined
  /** Caches a page unless something changed since `version` was read. */
  set(url: string, page: SharedPage, version: number): void
  /** An encoded part that many pages share, by the id of the object that it shows; undefined if not cached. */
  part(id: string): string | undefined
  setPart(id: string, text: string, version: number): void
  version(): number
  drop(): void
}

export const pageCache = defineResource<PageCache>('page-cache')

/** Maximum number of cached parts, some kilobytes each. */
const MAX_PARTS = 4_096

export function createPageCache(maxPages: number, maxParts = MAX_PARTS): PageCache {
  const pages = new Map<string, SharedPage>()
  const parts = new Map<string, string>()
  let version = 0

  function keep<T>(kept: Map<string, T>, max: number, [key, value, builtAt]: readonly [string, T, number]): void {
    if (builtAt !== version) return
    if (kept.size >= max) dropOldest(kept)
    kept.set(key, value)
  }

  return {
    get: (url) => pages.get(url),
    set: (...page) => keep(pages, maxPages, page),
    part: (id) => parts.get(id),
    setPart: (...part) => keep(parts, maxParts, part),
    version: () => version,
    drop() {
      version += 1
      pages.clear()
      parts.clear()
    },
  }
}
