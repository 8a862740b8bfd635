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
import { isLoopbackHost } from './host.ts'
import type { Peers } from './peers.ts'

const WINDOW_SECONDS = MINUTE_MS / SECOND_MS
/** A minute of one caller, and of one address that shows credentials that do not hold (decisions §3). */
export const MAX_READS = 600
export const MAX_WRITES = 120
/** Payments that the server of one key may have verified and settled in a minute: each of its buyers takes two. */
export const MAX_FACILITATED = 6_000
const MAX_FAILED_CREDENTIALS = 10
/** Hexadecimal digits of an address's bucket: 65,536 buckets, however many addresses there are. */
const BUCKET_DIGITS = 4
const SALT_BYTES = 16

/** What servers of others ask about payments. */
const facilitatedPaths: ReadonlySet<string> = new Set(
  endpointNames
    .map((name): Endpoint => api[name])
    .filter(({ method, servedWith }) => method === 'POST' && servedWith === 'facilitator')
    .map(({ path }) => path),
)

const credentialHeaders = ['authorization', apiKeyHeader.toLowerCase(), balanceHeader.toLowerCase()]

export type RateLimits = {
  /** Counts a request. @returns the refusal of one too many, its headers set. */
  readonly refusal: (req: IncomingMessage, res: ServerResponse) => Promise<AppError | undefined>
  /** Counts a credential that did not hold. */
  readonly failed: (req: IncomingMessage) => void
  /** Whether this request is counted at all: on a loopback bind, only what came from elsewhere. */
  readonly covers: (req: IncomingMessage) => boolean
}

type Counted = Pick<Context, 'config'> & {
  readonly adminKeyHash: string
  /** Id of the participant that an API key belongs to. */
  readonly holderOf: (apiKey: string) => Promise<string | undefined>
}

/** Fixed windows of a minute of the machine's time, in memory; the business clock never moves them. */
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

  /** Bounded in number, and nobody can tell whose bucket an address falls into. */
  const bucketOf = (req: IncomingMessage) => hashSecret(salt + peers.addressOf(req)).slice(0, BUCKET_DIGITS)

  /** Only a credential that holds has a bucket of its own: whoever makes one up is counted by its address. */
  async function holderOf(req: IncomingMessage): Promise<string | undefined> {
    const shown = credentialOf(req)
    if (shown === undefined) return undefined
    return hashSecret(shown) === ctx.adminKeyHash ? 'admin' : ctx.holderOf(shown)
  }

  async function refusal(req: IncomingMessage, res: ServerResponse): Promise<AppError | undefined> {
    const failed = hasCredential(req) ? await failures.get(bucketOf(req)) : null
    if (failed !== null && failed.consumedPoints >= MAX_FAILED_CREDENTIALS) {
      return refuse(res, { limit: MAX_FAILED_CREDENTIALS, what: 'credentials that are not known here', state: failed })
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

/** Without a key that holds, what is sent to the facilitator is a write like any other. */
function kindOf({ method, url = '/' }: IncomingMessage, isKnown: boolean): keyof typeof allowances {
  if (method === 'GET' || method === 'HEAD') return 'reads'
  return isKnown && method === 'POST' && facilitatedPaths.has(before(url, '?')) ? 'facilitated' : 'writes'
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

/** Whether a request says who sends it. */
export function hasCredential(req: IncomingMessage): boolean {
  return credentialHeaders.some((name) => req.headers[name] !== undefined)
}

/** The first credential of a request, bare. */
function credentialOf(req: IncomingMessage): string | undefined {
  const shown = credentialHeaders.map((name) => req.headers[name]).find((value) => value !== undefined)
  return shown === undefined ? undefined : String(shown).replace(/^Bearer +/i, '')
}
