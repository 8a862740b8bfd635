/** A bell for one sleeper: rung while nobody sleeps, it wakes the next one at once. */
export type QueueSignal = {
  ring(): void
  /** Resolves when it rings, at the latest after so many milliseconds; without a number only when it rings. */
  wait(ms?: number): Promise<void>
}

export function createSignal(): QueueSignal {
  let rung = false
  let wake: (() => void) | undefined
  return {
    ring: () => {
      rung = true
      wake?.()
    },
    wait: async (ms) => {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
        wake = resolve
        await promise
        clearTimeout(timer)
        wake = undefined
      }
      rung = false
    },
  }
}
