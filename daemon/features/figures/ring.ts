/** A value for each of the newest intervals. Older intervals are overwritten, so the memory use is bounded. */
export type Ring<V> = {
  /** Changes the value of the interval that contains `at`, unless it was already overwritten. */
  readonly change: (at: number, change: (held: V) => V) => void
  /** Adds up the last `count` intervals up to the one that contains `at`. */
  readonly sum: (at: number, count: number) => V
}

type RingOf<V> = {
  readonly intervalMs: number
  readonly length: number
  readonly none: () => V
  /** May change the sum. */
  readonly plus: (sum: V, one: V) => V
}

export function createRing<V>({ intervalMs, length, none, plus }: RingOf<V>): Ring<V> {
  type Slot = { readonly interval: number; readonly value: V }
  const slots: (Slot | undefined)[] = new Array(length).fill(undefined)
  const intervalOf = (at: number) => Math.floor(at / intervalMs)
  return {
    change(at, change) {
      const interval = intervalOf(at)
      const held = slots[interval % length]
      if (held !== undefined && held.interval > interval) return
      slots[interval % length] = { interval, value: change(held?.interval === interval ? held.value : none()) }
    },
    sum(at, count) {
      const last = intervalOf(at)
      let sum = none()
      for (let interval = last - Math.min(count, length) + 1; interval <= last; interval += 1) {
        const held = slots[((interval % length) + length) % length]
        if (held?.interval === interval) sum = plus(sum, held.value)
      }
      return sum
    },
  }
}
