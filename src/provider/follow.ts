import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import { CliError } from '../cli/exit.ts'
import { openSession, type Session, type SessionHost } from '../cli/session.ts'
import { AppError } from '../core/error.ts'
import { compact } from '../core/record.ts'

const WAIT_SECONDS = 30
/** Timeout longer than the long poll of the instance. */
const ANSWER_TIMEOUT_MS = 45_000
const PAGE = '100'
const RETRY_FIRST_MS = 250
const RETRY_MAX_MS = 10_000
/** An answer that is kept back for news and brings none, comes later than this; who sends it sooner is not polled at once. */
const EARLY_MS = 1_000
const EARLY_PAUSE_MS = 1_000
const SERVER_FAULT = 500
const TOO_MANY = 429

export type EventPage = WireAnswer<Api['readEvents']>
export type OwnEvent = EventPage['events'][number]

export type ProviderHost = SessionHost & { session(): Promise<Session> }

/** What a follower hears of the connection. */
export type Outage = { readonly state: 'lost' | 'back'; readonly attempt: number }

/** An instance that may go away and come back, even at another address. */
export type ProviderLine = {
  readonly session: () => Session
  /** Calls until somebody answers; what is refused for good is thrown. */
  readonly insist: <T>(call: (session: Session) => Promise<T>) => Promise<T>
  /** Insists on a page. One that brings nothing, and that too soon, costs a pause: no instance makes its follower spin. */
  readonly nextPage: (reading: EventsAsked) => Promise<EventPage>
  /** That pause; ends with the insisting. */
  readonly pause: () => Promise<void>
}

type LineOptions = {
  /** Ends the insisting. */
  readonly signal: AbortSignal
  /** Attempts in a row before it gives up. */
  readonly maxRetries?: number | undefined
  readonly onOutage?: (outage: Outage) => void
}

/** The first connection has to work: an instance that is not there is told at once. */
export async function openLine(host: ProviderHost, options: LineOptions): Promise<ProviderLine> {
  const { signal, maxRetries = Number.POSITIVE_INFINITY, onOutage } = options
  const own: SessionHost = { ...host, signal }
  let session = await openSession(own)
  await session.call('getHealth', {})
  const tell = (state: Outage['state'], attempt: number) => onOutage?.({ state, attempt })
  /** @throws what ends the insisting */
  async function again(error: unknown, attempt: number): Promise<void> {
    if (signal.aborted || !isPassing(error) || attempt > maxRetries) throw error
    tell('lost', attempt)
    await host.system.sleep(Math.min(RETRY_FIRST_MS * 2 ** (attempt - 1), RETRY_MAX_MS), signal)
    session = await openSession(own).catch(() => session) // not back yet
  }
  async function insist<T>(call: (session: Session) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await call(session)
        if (attempt > 1) tell('back', attempt)
        return answer
      } catch (error) {
        await again(error, attempt)
      }
    }
  }
  const pause = () => host.system.sleep(EARLY_PAUSE_MS, signal)
  async function nextPage(reading: EventsAsked): Promise<EventPage> {
    const began = host.io.now()
    const page = await insist((current) => readPage(current, reading))
    const isNews = page.events.length > 0 && isLater(page.next_cursor, reading.cursor)
    if (reading.wait && !isNews && host.io.now() - began < EARLY_MS) await pause()
    return page
  }
  return { session: () => session, insist, nextPage, pause }
}

/** Nobody answered, or the instance said that it cannot just now. */
function isPassing(error: unknown): boolean {
  if (error instanceof CliError) return error.exit === 'no_daemon'
  return error instanceof AppError && (error.status >= SERVER_FAULT || error.status === TOO_MANY)
}

export type EventsAsked = {
  readonly cursor?: string | undefined
  readonly types?: string | undefined
  readonly wait?: boolean
}

/** One page of the caller's own events. */
export async function readPage(session: Session, { cursor, types, wait = false }: EventsAsked): Promise<EventPage> {
  const page = await session.call('readEvents', {
    query: { ...compact({ cursor, types }), limit: PAGE, ...(wait ? { wait: String(WAIT_SECONDS) } : {}) },
    timeoutMs: ANSWER_TIMEOUT_MS,
  })
  if (Array.isArray(page.events) && isCursor(page.next_cursor)) return page
  throw new CliError('failure', 'The instance gave a page of events that cannot be read.')
}

/** Cursors are whole numbers that grow: only so it is certain that reading on comes to an end. */
export function isCursor(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,20}$/.test(text)
}

/** Whether a page ends behind where it began; any does that began nowhere certain. */
export function isLater(next: string, cursor: string | undefined): boolean {
  return !isCursor(cursor) || BigInt(next) > BigInt(cursor)
}
