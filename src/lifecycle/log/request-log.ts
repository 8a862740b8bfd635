import type { CommandContext } from '../../cli/command.ts'
import { CliError } from '../../cli/exit.ts'
import { openSession, type Session } from '../../cli/session.ts'
import type { Queried } from '../../client/call.ts'
import { AppError } from '../../core/error.ts'
import { cyan, dim, oneLine, red, yellow } from '../../text/text.ts'
import { asLine, type LogLine, loggedTime, type RequestFields, type RequestRecord, recordLine } from './log-record.ts'

export type RequestFilter = Queried<'listRequests'>

/** Seconds that one look for further requests waits, and pause after an instance did not answer. */
const WAIT_SECONDS = 20
const RETRY_MS = 1_000

const SERVER_FAULT = 500
const REFUSED = 400
const PAYMENT_REQUIRED = 402

/** What the log of the instance and its requests have in common, so that they are one list in order of time. */
export function asRecord(request: RequestRecord): LogLine {
  const { id: _id, at, ...rest } = request
  return asLine({ time: at, level: levelOf(request), source: 'http' as const, msg: messageOf(request), ...rest })
}

function levelOf({ status }: RequestRecord): RequestFields['level'] {
  if (status === null || status < REFUSED || status === PAYMENT_REQUIRED) return 'info'
  return status >= SERVER_FAULT ? 'error' : 'warn'
}

function messageOf({ method, path, status }: RequestRecord): string {
  return `${method} ${path} ${status ?? '…'}`
}

/** A line of either kind for people. */
export function logLine(record: LogLine): string {
  const { atMs, fields } = record
  return isRequest(fields) ? requestLine(atMs, fields) : recordLine(record)
}

export function isRequest(fields: LogLine['fields']): fields is RequestFields {
  return fields.remembered !== undefined
}

const tints = { debug: dim, info: cyan, warn: yellow, error: red } as const

function requestLine(atMs: number, fields: RequestFields): string {
  const { level, msg, ms, name, caller, price, code, job_id, receipt_id, request_id } = fields
  const extra = [
    ms === null ? null : `${ms} ms`,
    name ?? caller,
    price === null ? null : `$${price}`,
    code,
    job_id ?? receipt_id,
    request_id,
  ]
  const said = extra.filter((one) => one !== null).map(oneLine)
  return `${loggedTime(atMs)} ${tints[level](level.padEnd(5))} ${oneLine(msg)}   ${dim(said.join('  '))}`
}

/** What the instance remembers of requests; nothing where it is of a build that remembers none. */
export async function pastRequests(
  session: Session,
  query: RequestFilter,
): Promise<{ found: RequestRecord[]; cursor: string }> {
  try {
    const { requests, next_cursor } = await session.call('listRequests', { query })
    return { found: requests, cursor: next_cursor }
  } catch (error) {
    if (isWithout(error)) return { found: [], cursor: '0' }
    throw error
  }
}

/** An instance of an earlier build, or one whose admin key is not here: its log can be read all the same. */
function isWithout(error: unknown): boolean {
  return (error instanceof AppError && error.status === 404) || (error instanceof CliError && error.exit === 'auth')
}

/** Requests as they end, across restarts of the instance. */
export async function* followRequests(
  context: CommandContext<unknown, unknown>,
  query: RequestFilter,
  from: string | undefined,
): AsyncGenerator<RequestRecord> {
  const { signal, system } = context
  let cursor = from
  while (!signal.aborted) {
    try {
      const session = await openSession(context)
      cursor ??= (await pastRequests(session, { limit: '1' })).cursor
      const timeoutMs = (WAIT_SECONDS + 10) * 1_000
      const asked = { query: { ...query, cursor, wait: String(WAIT_SECONDS), limit: '1000' }, timeoutMs }
      const { requests, next_cursor } = await session.call('listRequests', asked)
      yield* requests
      cursor = next_cursor
    } catch (error) {
      if (isWithout(error)) return
      if (!(error instanceof CliError) || error.exit !== 'no_daemon') throw error
      await system.sleep(RETRY_MS, signal) // it restarts, or is to be started
    }
  }
}

/** Several sources as one, each item as it comes. */
export async function* merged<T>(sources: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const next = (source: AsyncGenerator<T>) => source.next().then((result) => ({ source, result }))
  const pending = new Map(sources.map((source) => [source, next(source)]))
  while (pending.size > 0) {
    const { source, result } = await Promise.race(pending.values())
    if (result.done) pending.delete(source)
    else {
      pending.set(source, next(source))
      yield result.value
    }
  }
}
