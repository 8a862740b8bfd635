import type { IncomingMessage, ServerResponse } from 'node:http'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { apiKeyHeader, balanceHeader } from '../../src/api/credentials.ts'
import { AppError } from '../../src/core/error.ts'
import { isLoopback } from '../../src/core/loopback.ts'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts'
import type { Config } from '../config.ts'
import { hashSecret } from '../hash-secret.ts'
import { addressOf } from './client-address.ts'

const WINDOW_SECONDS = MINUTE_MS / SECOND_MS
/** A minute of one caller, and of one address that shows credentials that do not hold (decisions §3). */
export const MAX_READS = 600
export const MAX_WRITES = 120
const MAX_FAILED_CREDENTIALS = 10

const credentialHeaders = ['authorization', apiKeyHeader.toLowerCase(), balanceHeader.toLowerCase()]
const forwardingHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip']

export type RateLimits = {
  /** Counts a request. @returns the refusal of one too many, its headers set. */
  readonly refusal: (req: IncomingMessage, res: ServerResponse) => Promise<AppError | undefined>
  /** Counts a credential that did not hold. */
  readonly failed: (req: IncomingMessage) => void
  /** Whether this request is counted at all: on a loopback bind, only what was forwarded. */
  readonly covers: (req: IncomingMessage) => boolean
}

/** Fixed windows of a minute of the machine's time, in memory; the business clock never moves them. */
export function openRateLimits({ host }: Pick<Config, 'host'>): RateLimits {
  const limiterOf = (points: number) => new RateLimiterMemory({ points, duration: WINDOW_SECONDS })
  const reads = limiterOf(MAX_READS)
  const writes = limiterOf(MAX_WRITES)
  const failures = limiterOf(MAX_FAILED_CREDENTIALS)
  const isLocal = isLoopback(host)

  async function refusal(req: IncomingMessage, res: ServerResponse): Promise<AppError | undefined> {
    const failed = hasCredential(req) ? await failures.get(addressOf(req)) : null
    if (failed !== null && failed.consumedPoints >= MAX_FAILED_CREDENTIALS) {
      return refuse(res, { limit: MAX_FAILED_CREDENTIALS, what: 'credentials that are not known here', state: failed })
    }
    const isRead = req.method === 'GET' || req.method === 'HEAD'
    const over = await overdrawn(isRead ? reads : writes, callerOf(req))
    return (
      over &&
      refuse(
        res,
        isRead ? { limit: MAX_READS, what: 'reads', state: over } : { limit: MAX_WRITES, what: 'writes', state: over },
      )
    )
  }

  return {
    refusal,
    failed: (req) => {
      if (hasCredential(req)) void failures.penalty(addressOf(req))
    },
    covers: (req) => !isLocal || forwardingHeaders.some((name) => req.headers[name] !== undefined),
  }
}

/** Takes one from a caller's minute. @returns its state when there was none left. */
async function overdrawn(limiter: RateLimiterMemory, caller: string): Promise<RateLimiterRes | undefined> {
  try {
    await limiter.consume(caller)
    return undefined
  } catch (state) {
    if (state instanceof Error) throw state
    return state as RateLimiterRes // the library rejects with it
  }
}

type Over = { readonly limit: number; readonly what: string; readonly state: RateLimiterRes }

function refuse(res: ServerResponse, { limit, what, state }: Over): AppError {
  const seconds = Math.max(1, Math.ceil(state.msBeforeNext / SECOND_MS))
  res.setHeader('RateLimit-Limit', limit)
  res.setHeader('RateLimit-Remaining', Math.max(0, state.remainingPoints))
  res.setHeader('RateLimit-Reset', seconds)
  return new AppError('rate_limited', `More than ${limit} ${what} in a minute: try again in ${seconds} s.`, {
    retryAfter: seconds,
  })
}

function hasCredential(req: IncomingMessage): boolean {
  return credentialHeaders.some((name) => req.headers[name] !== undefined)
}

/** Whoever shows a credential is counted by it: made-up ones run into the bound on failures of their address. */
function callerOf(req: IncomingMessage): string {
  const shown = credentialHeaders.map((name) => req.headers[name]).find((value) => value !== undefined)
  return shown === undefined ? addressOf(req) : hashSecret(String(shown))
}
