import type { WireAnswer } from '../api/index.ts'
import { CliError } from '../cli/exit.ts'
import { openSession, type Session, type SessionHost } from '../cli/session.ts'
import { AppError } from '../core/error.ts'
import { compact } from '../core/record.ts'

const WAIT_SECONDS = 30
/** Longer than the instance's long poll. */
const ANSWER_TIMEOUT_MS = 45_000
const PAGE = '100'
const RETRY_FIRST_MS = 250
const RETRY_MAX_MS = 10_000
/** A long poll without events should take at least this long. If it was shorter, a pause follows. */
const EARLY_MS = 1_000
const EARLY_PAUSE_MS = 1_000
const SERVER_FAULT = 500
const TOO_MANY = 429

export type EventPage = WireAnswer<'readEvents'>
export type OwnEvent = EventPage['events'][number]

export type ProviderHost = SessionHost & { session(): Promise<Session> }

/** Connection notices. */
export type Outage = { readonly state: 'lost' | 'back'; readonly attempt: number }

/** Connection to an instance that may restart, even at another address. */
export type ProviderLine = Awaited<ReturnType<typeof openLine>>

type LineOptions = {
  /** Ends retrying. */
  readonly signal: AbortSignal
  /** Maximum number of retries in a row. */
  readonly maxRetries?: number | undefined
  readonly onOutage?: (outage: Outage) => void
}

/** Connects to the instance. Later calls are repeated after failures. @throws if the first connection fails */
export async function openLine(host: ProviderHost, options: LineOptions) {
  const { signal, maxRetries = Number.POSITIVE_INFINITY, onOutage } = options
  const own: SessionHost = { ...host, signal }
  let session = await openSession(own)
  await session.call('getHealth', {})
  const tell = (state: Outage['state'], attempt: number) => onOutage?.({ state, attempt })
  /** @throws what ends retrying */
  async function again(error: unknown, attempt: number): Promise<void> {
    if (signal.aborted || !isPassing(error) || attempt > maxRetries) throw error
    tell('lost', attempt)
    await host.system.sleep(Math.min(RETRY_FIRST_MS * 2 ** (attempt - 1), RETRY_MAX_MS), signal)
    session = await openSession(own).catch(() => session) // not back yet
  }
  /** Repeats a call until it succeeds. @throws refusals that a repetition cannot change */
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
  /** Resolves after a pause, or when the signal is aborted. */
  const pause = (): Promise<void> => host.system.sleep(EARLY_PAUSE_MS, signal)
  /** Reads a page of events, with retries. If a long poll ends early without events, a pause follows. */
  async function nextPage(reading: EventsAsked): Promise<EventPage> {
    const began = host.io.now()
    const page = await insist((current) => readPage(current, reading))
    const isNews = page.events.length > 0 && isLater(page.next_cursor, reading.cursor)
    if (reading.wait && !isNews && host.io.now() - began < EARLY_MS) await pause()
    return page
  }
  return { session: () => session, insist, nextPage, pause }
}

/** Whether an error is temporary: the instance is unreachable, or cannot answer at the moment. */
function isPassing(error: unknown): boolean {
  if (error instanceof CliError) return error.exit === 'no_daemon'
  return error instanceof AppError && (error.status >= SERVER_FAULT || error.status === TOO_MANY)
}

export type EventsAsked = {
  readonly cursor?: string | undefined
  readonly types?: string | undefined
  readonly wait?: boolean
}

export async function readPage(session: Session, { cursor, types, wait = false }: EventsAsked): Promise<EventPage> {
  const page = await session.call('readEvents', {
    query: { ...compact({ cursor, types }), limit: PAGE, ...(wait ? { wait: String(WAIT_SECONDS) } : {}) },
    timeoutMs: ANSWER_TIMEOUT_MS,
  })
  if (Array.isArray(page.events) && isCursor(page.next_cursor)) return page
  throw new CliError('failure', 'The instance returned an unreadable page of events.')
}

/** Whether a text is a cursor, which is an integer. Each page's cursor is higher, so reading comes to an end. */
export function isCursor(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,20}$/.test(text)
}

/** Whether the cursor of a page is ahead of `cursor`, or `cursor` is no known cursor. */
export function isLater(next: string, cursor: string | undefined): boolean {
  return !isCursor(cursor) || BigInt(next) > BigInt(cursor)
}
