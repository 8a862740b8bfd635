export type ShortLived<T> = {
  readonly get: (name: string) => T | undefined
  readonly has: (name: string) => boolean
  readonly set: (name: string, value: T) => void
  readonly delete: (name: string) => void
}

/** Uses an object, because V8 keeps the outgrown tables of a Map, with their old entries, until a full collection. */
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
