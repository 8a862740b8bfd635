/** Scheduled actions, which run in order of time. */
export type Agenda = {
  /** Schedules an action. An action whose time has passed runs next. */
  readonly at: (time: number, act: () => Promise<void>) => void
  /** Runs all actions up to a time, including those that they schedule. */
  readonly run: (until: number, goTo: (time: number) => Promise<void>) => Promise<void>
  /** Time of the next action; infinite if none. */
  readonly next: () => number
}

type Planned = { readonly time: number; readonly order: number; readonly act: () => Promise<void> }

/** Limit of scheduled actions, to catch bugs. */
const MAX_PLANNED = 5_000

export function createAgenda(): Agenda {
  const planned: Planned[] = []
  let order = 0
  const next = () =>
    planned.reduce<Planned | undefined>((first, one) => (isBefore(one, first) ? one : first), undefined)
  return {
    at(time, act) {
      if (planned.length >= MAX_PLANNED) throw new Error(`more than ${MAX_PLANNED} actions are planned`)
      planned.push({ time, order, act })
      order += 1
    },
    next: () => next()?.time ?? Number.POSITIVE_INFINITY,
    async run(until, goTo) {
      for (let one = next(); one && one.time <= until; one = next()) {
        planned.splice(planned.indexOf(one), 1)
        await goTo(one.time)
        await one.act()
      }
    },
  }
}

function isBefore(one: Planned, first: Planned | undefined): boolean {
  if (!first) return true
  return one.time === first.time ? one.order < first.order : one.time < first.time
}

/** Deterministic pseudo-random numbers: mulberry32. */
export type Dice = { readonly below: (n: number) => number; readonly pick: <T>(from: readonly [T, ...T[]]) => T }

export function diceOf(seed: number): Dice {
  let state = seed
  const below = (n: number) => {
    state = (state + 0x6d2b79f5) | 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * n)
  }
  return { below, pick: (from) => from[below(from.length)] ?? from[0] }
}
