/** What is looked up by name for a short while. */
export type ShortLived<T> = {
  readonly get: (name: string) => T | undefined
  readonly has: (name: string) => boolean
  readonly set: (name: string, value: T) => void
  readonly delete: (name: string) => void
}

/**
 * No Map, where entries come and go with requests: V8 links each table that a Map has outgrown to the next one. Once
 * one of them is old, all that ever was in any of them stays until the next full collection.
 */
export function shortLived<T>(): ShortLived<T> {
  const entries: Record<string, T> = Object.create(null)
  return {
    get: (name) => entries[name],
    has: (name) => name in entries,
    set: (name, value) => {
      entries[name] = value
    },
    delete: (name) => {
      delete entries[name]
    },
  }
}
