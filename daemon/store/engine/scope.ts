import { StoreMisuse } from '../errors.ts'
import type { Awaitable } from './rows.ts'

export type ScopeGuard = <T>(call: () => Awaitable<T>) => Promise<T>

/** State of a transaction body. Its handles work while `open` is true; `failure` is its first failure. */
export type Scope = {
  open: boolean
  failure: { readonly error: unknown } | undefined
  /** Settles after the last call that waits for the base. Never rejects. */
  waiting: Promise<unknown> | undefined
}

export function openScope(): Scope {
  return { open: true, failure: undefined, waiting: undefined }
}

/**
 * Refuses calls after the end of a transaction body. The first failed call fails the whole body, even if the body
 * catches the error. Calls run one after another, even if the body does not await them.
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
    if (!scope.open) return Promise.reject(new StoreMisuse('this handle is closed: its tx or read has ended'))
    if (scope.waiting !== undefined) return later(scope.waiting.then(() => run(call)))
    try {
      const answer = run(call)
      return answer instanceof Promise ? later(answer) : Promise.resolve(answer)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}

/** Awaits a transaction's body and its calls, then closes its scope. @throws StoreMisuse if the body is too slow */
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

/** Limits the time of a transaction body, because a body blocks all writers. */
export type Watchdog = <T>(body: Promise<T>) => Promise<T>

/** Bodies run one at a time, so one timer is enough. A body that still runs at the timer's next tick has timed out. */
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
