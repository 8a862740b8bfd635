import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { Duration } from '../src/cli/params.ts'
import { openSession, type Session } from '../src/cli/session.ts'
import type { Queried } from '../src/client/asked.ts'
import { compact } from '../src/core/record.ts'
import {
  asLine,
  type LogLine,
  loggedTime,
  type RequestFields,
  type RequestRecord,
  readRecord,
  recordLine,
} from '../src/lifecycle/log/log-record.ts'
import { followLines, loggedLines } from '../src/lifecycle/log/log-tail.ts'
import { isLocal } from '../src/lifecycle/restore.ts'
import { logLevels } from '../src/model/words.ts'
import { cyan, dim, oneLine, red, yellow } from '../src/text/text.ts'

const DEFAULT_TAIL_LINES = 100
const REMOTE_LINES_MAX = 1_000

const options = z.object({
  follow: z.flag({ short: 'f', description: 'keep printing new lines, across restarts' }),
  tail: z.int().min(0).default(DEFAULT_TAIL_LINES).meta({ description: 'number of last lines' }),
  since: Duration.optional().meta({ description: 'only lines newer than this', value: 'duration' }),
  level: z.enum(logLevels).default('debug').meta({ description: 'lowest level' }),
  source: z.text({ description: 'only of this component: http, cron, webhook, x402, store', value: 'name' }),
  status: z
    .string()
    .regex(/^[1-5](\d\d|xx)$/, 'must be like 402 or 4xx')
    .optional()
    .meta({ description: 'only this HTTP status, such as 402 or 4xx', value: 'code' }),
  method: z.choice(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'], { description: 'only this HTTP method' }),
  path: z.text({ description: 'part of the path; * matches any text' }),
  grep: z.text({ description: 'only lines that match a regular expression', value: 'regex' }),
  request: z.text({ description: 'only this request and its log lines', value: 'req_…' }),
  job: z.text({ description: 'only requests about this job', value: 'job_…' }),
})
type Options = z.output<typeof options>
type Running = CommandContext<unknown, Options>

export const command = defineCommand({
  name: 'logs',
  heading: 'Daemon',
  summary: 'show the daemon log and its requests',
  description:
    'The daemon keeps requests in memory, without queries, bodies and credentials. For earlier requests, only the stored records are shown. `souk why ID` shows the effects of one request.',
  options,
  examples: [
    'souk logs',
    'souk logs --status 4xx --since 1h',
    'souk logs --path /v1/services --method POST --ndjson',
    'souk logs --level warn --source cron',
  ],
  run: (context) => records(context),
  view: (fields, io) => io.line(logLine(asLine(fields))),
})

async function* records(context: Running): AsyncGenerator<LogLine['fields']> {
  const { options: wanted, io } = context
  const matches = matcher(wanted, io.now())
  const local = isLocal(context)
  const past = (await pastOf(context, local)).filter(matches).toSorted((one, two) => one.atMs - two.atMs)
  if (wanted.request !== undefined && past.length === 0 && !wanted.follow) throw forgotten(wanted.request)
  for (const record of past.slice(-wanted.tail || past.length)) if (wanted.tail > 0) yield record.fields
  if (!wanted.follow) return
  for await (const record of merged(followed(context, local))) if (matches(record)) yield record.fields
}

function forgotten(id: string): CliError {
  return new CliError('not_found', `No record of ${id} in memory.`, {
    facts: ['traces cover the last 4,096 requests; before the daemon start, only stored records exist'],
    next: ['souk logs --source http --tail 20'],
  })
}

/** Log records of the daemon. If it is running, also the requests that it has answered. */
async function pastOf(context: Running, local: boolean): Promise<LogLine[]> {
  const session = await context.session().catch((error: unknown) => {
    if (local && error instanceof CliError && error.exit === 'no_daemon') return undefined // the log file can still be read
    throw error
  })
  const lines = local
    ? loggedLines(context.places.state).map(readRecord)
    : session && (await remoteRecords(context, session))
  if (!session || !wantsRequests(context.options)) return [...(lines ?? [])]
  const asked = askedOf(context)
  const limit = String(Math.min(Math.max(context.options.tail, 1), REMOTE_LINES_MAX))
  const { found } = await pastRequests(session, { ...asked, limit })
  return [...(lines ?? []), ...found.map(asRecord)]
}

function wantsRequests({ source }: Options): boolean {
  return source === undefined || source === 'http'
}

function askedOf({ options: wanted, io }: Running): RequestFilter {
  const { status, method, path, request, job, since } = wanted
  const from = since === undefined ? undefined : new Date(io.now() - since).toISOString()
  return compact({ status, method, path, request, job, since: from })
}

function followed(context: Running, local: boolean): AsyncGenerator<LogLine>[] {
  const { places, system, signal } = context
  const requests = wantsRequests(context.options)
    ? [mapped(followRequests(context, askedOf(context), undefined), asRecord)]
    : []
  return local ? [...requests, mapped(followLines(places.state, system, signal), readRecord)] : requests
}

async function* mapped<T>(source: AsyncGenerator<T>, read: (item: T) => LogLine): AsyncGenerator<LogLine> {
  for await (const item of source) yield read(item)
}

async function remoteRecords({ options: wanted }: Running, session: Session): Promise<LogLine[]> {
  const { level, source, request } = wanted
  const query = { ...compact({ level, source, request }), limit: String(REMOTE_LINES_MAX) }
  const { records: found } = await session.call('getLogs', { query })
  return found.map((record) => readRecord(JSON.stringify(record)))
}

type Matches = (record: LogLine) => boolean

function matcher(wanted: Options, now: number): Matches {
  const least = logLevels.indexOf(wanted.level)
  const oldest = wanted.since === undefined ? undefined : now - wanted.since
  const grep = expression(wanted.grep)
  const isOf = lineMatcher(wanted)
  return (record) =>
    logLevels.indexOf(record.fields.level) >= least &&
    (oldest === undefined || record.atMs >= oldest) &&
    (wanted.source === undefined || record.fields.source === wanted.source) &&
    (isRequest(record.fields) || isOf(record)) &&
    (grep === undefined || grep.test(JSON.stringify(record.fields)))
}

/** Returns a function that checks a log record against the options. The instance itself filters the requests. */
function lineMatcher({ status, method, path, request, job }: Options): Matches {
  const code = status === undefined ? undefined : new RegExp(`^${status.replaceAll('x', '\\d')}$`)
  return ({ fields }) =>
    (request === undefined || fields.request_id === request) &&
    (code === undefined || code.test(String(fields.status))) &&
    (method === undefined || fields.method === method) &&
    (path === undefined || String(fields.path ?? '').includes(path.replaceAll('*', ''))) &&
    (job === undefined || JSON.stringify(fields).includes(job))
}

function expression(text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined
  try {
    return new RegExp(text, 'i')
  } catch (cause) {
    throw usage(`--grep is not a regular expression: ${cause instanceof Error ? cause.message : text}.`, { cause })
  }
}

export type RequestFilter = Queried<'listRequests'>

const WAIT_SECONDS = 20
const RETRY_MS = 1_000

const SERVER_FAULT = 500
const REFUSED = 400
const PAYMENT_REQUIRED = 402

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

/** Requests that the instance remembers; none without an admin key. */
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

/** Whether an error means that the request log cannot be read without the admin key. */
function isWithout(error: unknown): boolean {
  return error instanceof CliError && error.exit === 'auth'
}

/** Follows completed requests, across restarts of the instance. */
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
      await system.sleep(RETRY_MS, signal) // the daemon restarts, or somebody will start it
    }
  }
}

/** Merges several sources, and yields each item when it arrives. */
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
