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
  return async (call) => {
    if (!scope.open) throw new StoreMisuse('this handle is used up: its tx or read has ended')
    if (scope.failure !== undefined) throw scope.failure.error
    try {
      return call()
    } catch (error) {
      scope.failure = { error }
      throw error
    }
  }
}

/**
 * Awaits a body, then uses its scope up.
 * @throws StoreMisuse when the body has not settled in time; it would block every writer.
 */
export async function settle<T>(scope: Scope, body: Promise<T>, watchdogMs: number): Promise<T> {
  try {
    const value = await withinMs(watchdogMs, body)
    if (scope.failure !== undefined) throw scope.failure.error
    return value
  } finally {
    scope.open = false
  }
}

async function withinMs<T>(ms: number, body: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new StoreMisuse(`a tx or read body did not settle within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([body, late])
  } finally {
    clearTimeout(timer)
  }
}
