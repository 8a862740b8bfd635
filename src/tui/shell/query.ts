import { createContext, useContext, useSyncExternalStore } from 'react'
import type { LinkClock, Outcome, Problem } from '../../client/link.ts'

/** An observable value, which key handlers can read at any time. */
export type StateStore<T> = {
  readonly get: () => T
  readonly set: (next: T) => void
  readonly subscribe: (listener: () => void) => () => void
}

export function createStore<T>(initial: T): StateStore<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Beyond this many queries, the oldest that nobody watches is dropped. */
const KEPT_MAX = 64
/** For data fetched once and on request only, since the instance logs each read. */
export const ONCE_MS = Number.POSITIVE_INFINITY
/** Shortest gap before a fetch that a hint of a change causes: this time, or `HINT_SHARE` of the interval if longer. */
const HINT_GAP_MS = 1_000
const HINT_SHARE = 0.25

export type Fetch<T> = (signal: AbortSignal) => Promise<Outcome<T>>

/** The last good value, and how fresh it is. */
export type Query<T> = {
  readonly value: T | undefined
  /** When the value was fetched. */
  readonly at: number | undefined
  /** Why the latest fetch failed. The value is then stale. */
  readonly problem: Problem | undefined
  /** When the next fetch is due. Undefined while a fetch runs, or if nobody watches. */
  readonly nextAt: number | undefined
}

export const unasked: Query<never> = { value: undefined, at: undefined, problem: undefined, nextAt: undefined }

export type LiveQuery<T> = {
  readonly get: () => Query<T>
  readonly isWatched: () => boolean
  /** Fetches regularly as long as somebody watches. @returns a function that stops watching */
  readonly watch: (listener: () => void) => () => void
  /** Fetches now. If a fetch is already running, fetches again after it has ended. */
  readonly refetch: () => void
  /** Fetches soon, since the data may have changed. */
  readonly hint: () => void
  /** Stops or continues fetching. */
  readonly freeze: (frozen: boolean) => void
}

type Timing = { readonly everyMs: number; readonly clock: LinkClock }

/** A value that is fetched at an interval, and on a hint that it changed. Only one fetch runs at a time. */
export function createQuery<T>(fetch: Fetch<T>, { everyMs, clock }: Timing): LiveQuery<T> {
  const store = createStore<Query<T>>(unasked)
  const alarm = createAlarm(clock)
  const fetching = createFetching(fetch, settled)
  const onLast = () => {
    alarm.clear()
    fetching.end()
  }
  const watchers = createWatchers(store.subscribe, { onFirst: start, onLast })
  let askedAt = Number.NEGATIVE_INFINITY
  let again = false
  let frozen = false

  function schedule(ms: number): void {
    if (watchers.count() === 0 || frozen || ms === ONCE_MS) return
    alarm.set(ms, start)
    store.set({ ...store.get(), nextAt: clock.now() + ms })
  }
  /** Schedules the fetch that a hint asks for, unless an earlier fetch is scheduled. */
  const soon = () => {
    const ms = Math.max(0, askedAt + Math.max(HINT_GAP_MS, everyMs * HINT_SHARE) - clock.now())
    if ((store.get().nextAt ?? Number.POSITIVE_INFINITY) > clock.now() + ms) schedule(ms)
  }

  function start(): void {
    alarm.clear()
    again = fetching.isRunning()
    if (again) return
    askedAt = clock.now()
    fetching.start()
  }

  function settled(outcome: Outcome<T>): void {
    const known = outcome.ok ? { value: outcome.value, at: clock.now() } : store.get()
    store.set({ ...known, problem: outcome.ok ? undefined : outcome.problem, nextAt: undefined })
    if (again) soon()
    else schedule(everyMs)
    again = false
  }

  return {
    get: store.get,
    isWatched: () => watchers.count() > 0,
    watch: watchers.watch,
    refetch() {
      if (watchers.count() > 0) start()
    },
    hint() {
      if (everyMs === ONCE_MS) return
      if (fetching.isRunning()) again = true
      else soon()
    },
    freeze(on) {
      frozen = on
      alarm.clear()
      store.set({ ...store.get(), nextAt: undefined })
      if (!on && !fetching.isRunning() && watchers.count() > 0) start()
    },
  }
}

type Watching = { readonly onFirst: () => void; readonly onLast: () => void }

/** Counts watchers. */
function createWatchers(subscribe: StateStore<unknown>['subscribe'], { onFirst, onLast }: Watching) {
  let count = 0
  return {
    count: () => count,
    watch(listener: () => void): () => void {
      const end = subscribe(listener)
      count += 1
      if (count === 1) onFirst()
      return () => {
        end()
        count -= 1
        if (count === 0) onLast()
      }
    },
  }
}

type Fetching = { readonly start: () => void; readonly end: () => void; readonly isRunning: () => boolean }

/** Runs one fetch at a time. Results of cancelled fetches are ignored. */
function createFetching<T>(fetch: Fetch<T>, settled: (outcome: Outcome<T>) => void): Fetching {
  let running: AbortController | undefined
  return {
    isRunning: () => running !== undefined,
    start() {
      const mine = new AbortController()
      running = mine
      const settle = (outcome: Outcome<T>) => {
        if (running !== mine) return
        running = undefined
        settled(outcome)
      }
      void fetch(mine.signal).then(settle, (error: unknown) => settle({ ok: false, problem: unexpected(error) }))
    },
    end() {
      running?.abort()
      running = undefined
    },
  }
}

/** One alarm. Calling `set` again replaces the previous time and callback. */
function createAlarm(clock: LinkClock): { set: (ms: number, run: () => void) => void; clear: () => void } {
  let takeBack: (() => void) | undefined
  const clear = () => {
    takeBack?.()
    takeBack = undefined
  }
  return {
    set(ms, run) {
      clear()
      takeBack = clock.later(ms, run)
    },
    clear,
  }
}

function unexpected(error: unknown): Problem {
  return { kind: 'failed', sentence: error instanceof Error ? error.message : String(error), facts: [], next: [] }
}

/** Queries by name. Screens that use the same name share a query. */
export type Queries = {
  readonly open: <T>(name: string, fetch: Fetch<T>, everyMs: number) => LiveQuery<T>
  readonly refetch: () => void
  readonly hint: () => void
  readonly freeze: (frozen: boolean) => void
}

/** @param pace of notifications */
export function createQueries(clock: LinkClock, pace?: Pace): Queries {
  const known = new Map<string, LiveQuery<unknown>>()
  const watched = () => [...known.values()]
  const told = <T>(query: LiveQuery<T>): LiveQuery<T> =>
    pace === undefined ? query : { ...query, watch: pacedSubscription(query.watch, pace) }
  let frozen = false
  return {
    open<T>(name: string, fetch: Fetch<T>, everyMs: number) {
      const existing = known.get(name) as LiveQuery<T> | undefined // a name stands for one fetch everywhere
      if (existing) return existing
      const made = told(createQuery(fetch, { everyMs, clock }))
      if (frozen) made.freeze(true)
      known.set(name, made)
      forget(known)
      return made
    },
    refetch: () => {
      for (const query of watched()) query.refetch()
    },
    hint: () => {
      for (const query of watched()) query.hint()
    },
    freeze(on) {
      frozen = on
      for (const query of watched()) query.freeze(on)
    },
  }
}

/** Drops the oldest query that nobody watches, if there are too many. */
function forget(known: Map<string, LiveQuery<unknown>>): void {
  if (known.size <= KEPT_MAX) return
  const oldest = [...known].slice(0, -1).find(([, query]) => !query.isWatched())
  if (oldest) known.delete(oldest[0])
}

export const QueriesContext = createContext<Queries | undefined>(undefined)

/** Hook that fetches every `every` ms, and on hints of a change. Components with the same `name` share the value. */
export function useQuery<T>(fetch: Fetch<T>, options: { readonly name: string; readonly every: number }): Query<T> {
  const queries = useContext(QueriesContext)
  if (queries === undefined) throw new Error('useQuery needs a QueriesContext around it')
  const query = queries.open(options.name, fetch, options.every)
  return useSyncExternalStore(query.watch, query.get)
}

/** Limits how often listeners are notified. The first notification is immediate. */
type Pace = { readonly paced: (listener: () => void) => () => void }

type Subscribe = (listener: () => void) => () => void

/** Creates a pace, which combines all notifications within `gapMs` milliseconds into one. */
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
