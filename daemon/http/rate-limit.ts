import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { apiKeyHeader, balanceHeader } from '../../src/api/endpoint/credentials.ts'
import type { Endpoint } from '../../src/api/endpoint/define.ts'
import { api, endpointNames } from '../../src/api/index.ts'
import { AppError } from '../../src/core/error.ts'
import { isLoopback } from '../../src/core/loopback.ts'
import { before } from '../../src/core/record.ts'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts'
import type { Context } from '../kernel/context.ts'
import { hashSecret } from '../kernel/identity.ts'
import type { Peers } from './connections.ts'
import { isLoopbackHost } from './host.ts'

const WINDOW_SECONDS = MINUTE_MS / SECOND_MS
/** Maximum reads per caller and minute (decisions §3). `MAX_WRITES` limits writes. */
export const MAX_READS = 600
export const MAX_WRITES = 120
/** Maximum facilitator requests per key and minute. Each purchase takes two. */
export const MAX_FACILITATED = 6_000
const MAX_FAILED_CREDENTIALS = 10
/** Number of hex digits in an address bucket: 65,536 buckets. */
const BUCKET_DIGITS = 4
const SALT_BYTES = 16

const facilitatedPaths: ReadonlySet<string> = new Set(
  endpointNames
    .map((name): Endpoint => api[name])
    .filter(({ method, servedWith }) => method === 'POST' && servedWith === 'facilitator')
    .map(({ path }) => path),
)

const credentialHeaders = ['authorization', apiKeyHeader.toLowerCase(), balanceHeader.toLowerCase()]

export type RateLimits = {
  /** Counts a request. @returns the error if it exceeds a limit, after setting the response's headers. */
  readonly refusal: (req: IncomingMessage, res: ServerResponse) => Promise<AppError | undefined>
  /** Counts an invalid credential. */
  readonly failed: (req: IncomingMessage) => void
  /** Whether to count this request. On a server that listens on loopback only, direct local requests do not count. */
  readonly covers: (req: IncomingMessage) => boolean
}

type Counted = Pick<Context, 'config'> & {
  readonly adminKeyHash: string
  /** Participant id of an API key. */
  readonly holderOf: (apiKey: string) => Promise<string | undefined>
}

/** Counts in fixed windows of one minute of machine time, in memory. The business clock does not affect them. */
export function openRateLimits(ctx: Counted, peers: Peers): RateLimits {
  const limiterOf = (points: number) => new RateLimiterMemory({ points, duration: WINDOW_SECONDS })
  const limiters = {
    reads: limiterOf(MAX_READS),
    writes: limiterOf(MAX_WRITES),
    facilitated: limiterOf(MAX_FACILITATED),
  }
  const failures = limiterOf(MAX_FAILED_CREDENTIALS)
  const isLocal = isLoopback(ctx.config.host)
  const salt = randomBytes(SALT_BYTES).toString('hex')

  /** Bucket of the client address. The number of buckets bounds memory, and the salt makes them unpredictable. */
  const bucketOf = (req: IncomingMessage) => hashSecret(salt + peers.addressOf(req)).slice(0, BUCKET_DIGITS)

  /** The holder of the request's credential. Requests without a valid credential are counted by their address. */
  async function holderOf(req: IncomingMessage): Promise<string | undefined> {
    const shown = credentialOf(req)
    if (shown === undefined) return undefined
    return hashSecret(shown) === ctx.adminKeyHash ? 'admin' : ctx.holderOf(shown)
  }

  async function refusal(req: IncomingMessage, res: ServerResponse): Promise<AppError | undefined> {
    const failed = hasCredential(req) ? await failures.get(bucketOf(req)) : null
    if (failed !== null && failed.consumedPoints >= MAX_FAILED_CREDENTIALS) {
      return refuse(res, { limit: MAX_FAILED_CREDENTIALS, what: 'unknown credentials', state: failed })
    }
    const holder = await holderOf(req)
    const kind = kindOf(req, holder !== undefined)
    const state = await overdrawn(limiters[kind], holder ?? bucketOf(req))
    return state && refuse(res, { ...allowances[kind], state })
  }

  return {
    refusal,
    failed: (req) => {
      if (hasCredential(req)) void failures.penalty(bucketOf(req))
    },
    covers: (req) => !isLocal || peers.isForwarded(req) || !isLoopbackHost(req.headers.host),
  }
}

const allowances = {
  reads: { limit: MAX_READS, what: 'reads' },
  writes: { limit: MAX_WRITES, what: 'writes' },
  facilitated: { limit: MAX_FACILITATED, what: 'payments to verify or settle' },
} as const

/** Which limit a request counts against. Without a valid key, a facilitator request counts as a write. */
function kindOf({ method, url = '/' }: IncomingMessage, isKnown: boolean): keyof typeof allowances {
  if (method === 'GET' || method === 'HEAD') return 'reads'
  return isKnown && method === 'POST' && facilitatedPaths.has(before(url, '?')) ? 'facilitated' : 'writes'
}

/** Counts one request. @returns the limiter's state if the caller exceeds the limit. */
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

export function hasCredential(req: IncomingMessage): boolean {
  return credentialHeaders.some((name) => req.headers[name] !== undefined)
}

/** The first credential of a request, without its scheme. */
function credentialOf(req: IncomingMessage): string | undefined {
  const shown = credentialHeaders.map((name) => req.headers[name]).find((value) => value !== undefined)
  return shown === undefined ? undefined : String(shown).replace(/^Bearer +/i, '')
}
