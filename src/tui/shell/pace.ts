import type { LinkClock } from '../../client/link.ts'

/** Limits how often listeners are notified. The first notification is immediate. */
export type Pace = { readonly paced: (listener: () => void) => () => void }

type Subscribe = (listener: () => void) => () => void

/** Creates a pace that bundles the notifications within `gapMs` milliseconds into one. */
export function createPace(clock: LinkClock, gapMs: number): Pace {
  const due = new Set<() => void>()
  let freeAt = Number.NEGATIVE_INFINITY
  let isSet = false

  function flush(): void {
    isSet = false
    freeAt = clock.now() + gapMs
    const listeners = [...due]
    due.clear()
    for (const listener of listeners) listener()
  }

  return {
    paced: (listener) => () => {
      due.add(listener)
      if (isSet) return
      const waitMs = freeAt - clock.now()
      if (waitMs <= 0) return flush()
      isSet = true
      clock.later(waitMs, flush)
    },
  }
}

/** Limits how often the listeners of a subscription are notified. */
export function pacedSubscription(subscribe: Subscribe, { paced }: Pace): Subscribe {
  return (listener) => subscribe(paced(listener))
}
