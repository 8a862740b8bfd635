/** Things said by several at once, read by one in the order they were said. */
export type Queue<T> = AsyncIterable<T> & {
  readonly push: (item: T) => void
  /** Nothing more comes; with an error, the reader gets it behind what was pushed before. */
  readonly end: (error?: unknown) => void
}

export function createQueue<T>(): Queue<T> {
  const items: T[] = []
  let wake = Promise.withResolvers<void>()
  let ended: { readonly error: unknown } | undefined
  const pushed = () => {
    wake = Promise.withResolvers()
    return wake.promise
  }
  return {
    push(item) {
      items.push(item)
      wake.resolve()
    },
    end(error) {
      ended ??= { error }
      wake.resolve()
    },
    async *[Symbol.asyncIterator]() {
      while (ended === undefined || items.length > 0) {
        yield* items.splice(0)
        if (ended === undefined && items.length === 0) await pushed()
      }
      if (ended.error !== undefined) throw ended.error
    },
  }
}
