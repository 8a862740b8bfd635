import { StoreMisuse } from '../errors.ts'

/** Runs one call of a handle: refused when the handle is used up, and a failure fails the whole body. */
export type ScopeGuard = <T>(call: () => T) => Promise<T>

/** The life of one body: its handles work while it is open, and its first failure is remembered. */
export type Scope = { open: boolean; failure: { readonly error: unknown } | undefined }

export function openScope(): Scope {
  return { open: true, failure: undefined }
}

/** Calls of a handle: refused after its end; the first failure fails the whole body, caught or not. */
export function guardOf(scope: Scope): ScopeGuard {
  return (call) => {
    if (!scope.open) return Promise.reject(new StoreMisuse('this handle is used up: its tx or read has ended'))
    if (scope.failure !== undefined) return Promise.reject(scope.failure.error)
    try {
      return Promise.resolve(call())
    } catch (error) {
      scope.failure = { error }
      return Promise.reject(error)
    }
  }
}

/** Awaits a body, then uses its scope up. @throws StoreMisuse when the body has not settled in time */
export async function settle<T>(scope: Scope, body: Promise<T>, inTime: Watchdog): Promise<T> {
  try {
    const value = await inTime(body)
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
