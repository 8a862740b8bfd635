/** Where jobs wait while they cannot be done: nobody's job fails for an edit that is not finished. */
export type WorkGate = {
  readonly close: () => void
  readonly open: () => void
  /** Resolves at once where it is open, and where the signal is aborted. */
  readonly passed: (signal: AbortSignal) => Promise<void>
}

export function createGate(): WorkGate {
  let closed: PromiseWithResolvers<void> | undefined
  return {
    close() {
      closed ??= Promise.withResolvers()
    },
    open() {
      closed?.resolve()
      closed = undefined
    },
    async passed(signal) {
      if (closed === undefined || signal.aborted) return
      const ended = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => ended.resolve(), { once: true })
      await Promise.race([closed.promise, ended.promise])
    },
  }
}
