import { StoreMisuse } from '../errors.ts'
import type { Awaitable } from './base.ts'

/** Runs one call of a handle: refused when the handle is used up, and a failure fails the whole body. */
export type ScopeGuard = <T>(call: () => Awaitable<T>) => Promise<T>

/** The life of one body: its handles work while it is open, and its first failure is remembered. */
export type Scope = {
  open: boolean
  failure: { readonly error: unknown } | undefined
  /** The last call that still waits for the base; never fails. */
  waiting: Promise<unknown> | undefined
}

export function openScope(): Scope {
  return { open: true, failure: undefined, waiting: undefined }
}

/**
 * Calls of a handle: refused after its end; the first failure fails the whole body, caught or not. While one waits for the
 * base, later ones queue up behind it: a body that does not await its calls gets the same result.
 */
export function guardOf(scope: Scope): ScopeGuard {
  function run<T>(call: () => Awaitable<T>): Awaitable<T> {
    if (scope.failure !== undefined) throw scope.failure.error
    try {
      return call()
    } catch (error) {
      return failed(error)
    }
  }

  function failed(error: unknown): never {
    scope.failure ??= { error }
    throw error
  }

  function later<T>(answer: Promise<T>): Promise<T> {
    const known = answer.catch(failed)
    const waiting = known.then(rest, rest)
    scope.waiting = waiting
    function rest(): void {
      if (scope.waiting === waiting) scope.waiting = undefined
    }
    return known
  }

  return (call) => {
    if (!scope.open) return Promise.reject(new StoreMisuse('this handle is used up: its tx or read has ended'))
    if (scope.waiting !== undefined) return later(scope.waiting.then(() => run(call)))
    try {
      const answer = run(call)
      return answer instanceof Promise ? later(answer) : Promise.resolve(answer)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}

/** Awaits a body and its calls, then uses its scope up. @throws StoreMisuse when the body has not settled in time */
export async function settle<T>(scope: Scope, body: Promise<T>, inTime: Watchdog): Promise<T> {
  try {
    const value = await inTime(body)
    scope.open = false
    if (scope.waiting !== undefined) await scope.waiting
    if (scope.failure !== undefined) throw scope.failure.error
    return value
  } finally {
    scope.open = false
  }
}

/** Waits for a body, but no longer than a body may take: it would block every writer. */
export type Watchdog = <T>(body: Promise<T>) => Promise<T>

/**
 * Bodies run one at a time, so one timer looks after all of them: one that it finds twice has had all of its time. Of one
 * that has settled meanwhile nothing comes of it.
 */
export function createWatchdog(ms: number): Watchdog {
  type Running = { readonly giveUp: (error: StoreMisuse) => void }
  let isArmed = false
  let latest: Running | undefined
  let seen: Running | undefined

  function look(): void {
    const isStuck = latest === seen
    if (isStuck) latest?.giveUp(new StoreMisuse(`a tx or read body did not settle within ${ms} ms`))
    seen = isStuck ? undefined : latest
    isArmed = false
    if (!isStuck) arm()
  }

  function arm(): void {
    isArmed = true
    setTimeout(look, ms).unref()
  }

  return (body) =>
    new Promise((resolve, reject) => {
      latest = { giveUp: reject }
      if (!isArmed) arm()
      body.then(resolve, reject)
    })
}
