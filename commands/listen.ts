import { randomBytes } from 'node:crypto'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { parseDuration } from '../src/cli/params.ts'
import { listenSecret } from '../src/client/secrets.ts'
import { createTransport, TransportError } from '../src/client/transport.ts'
import { httpUrl } from '../src/core/loopback.ts'
import { signedHeaders } from '../src/core/webhook-signature.ts'
import {
  type EventPage,
  isLater,
  type Outage,
  type OwnEvent,
  openLine,
  type ProviderLine,
} from '../src/provider/follow.ts'
import { runProgram } from '../src/provider/run-program.ts'
import { cyan, dim, green, red, span, yellow } from '../src/text/text.ts'

const SECRET_BYTES = 32
const MAX_RECONNECT = 1_000
/** Page limit of `--once` (100,000 events), in case the instance never returns a last page. */
const ONCE_PAGES_MAX = 1_000

const options = z.object({
  events: z.text({ description: 'only these event types, such as job.*,message.created', value: 'types' }),
  forwardTo: z.text({
    description: 'POST each event to this URL, signed like a webhook (localhost:3000 works)',
    value: 'url',
  }),
  header: z.list({ description: 'extra header for --forward-to', value: 'name:value' }),
  printSecret: z.flag({ description: 'print the secret used for --forward-to (not the one of your account) and exit' }),
  exec: z.text({ description: 'run this command for each event, with JSON on stdin', value: 'command' }),
  shell: z.flag({ description: 'run the command in a shell' }),
  since: z.text({ description: 'start after this cursor, or this long ago (default: now)', value: 'cursor|duration' }),
  once: z.flag({ description: 'print the events so far and exit' }),
  maxReconnect: z.int().min(0).default(MAX_RECONNECT).meta({ description: 'maximum attempts to reconnect' }),
})
type Context = CommandContext<unknown, z.output<typeof options>>

type Shown = {
  readonly cursor: string
  readonly id: string
  readonly type: string
  readonly at: string
  readonly subject: OwnEvent['subject']
  readonly data: OwnEvent['data']
  /** Response of the program or URL; null if events are not forwarded. */
  readonly delivery: Handed | null
}

export const command = defineCommand({
  name: 'listen',
  heading: 'Market',
  summary: 'follow your events; forward them to a URL or a command',
  description:
    'Events are kept for 7 days. After a lost connection it reconnects and shows missed events. Events are forwarded one by one, in order. A new job arrives as the job_dispatch webhook that an endpoint would get.',
  options,
  examples: [
    "souk listen --events 'job.*' --since 1d --once",
    'souk listen --since 1h --once --ndjson',
    "souk listen --since 1h --once --exec 'cat' --events 'job.*'",
    'souk listen --print-secret',
  ],
  run: (context) => listen(context),
  view(item, io) {
    if ('secret' in item) return io.line(item.secret)
    const { at, type, subject, delivery } = item
    io.line(`${at.slice(11, 19)} ${type.padEnd(18)} ${subject.id}${delivery === null ? '' : `  ${taken(delivery)}`}`)
  },
})

function taken({ ok, status, ms, error }: Handed): string {
  const what = status === null ? (error ?? 'no answer') : String(status)
  return `→ ${ok ? green(what) : red(what)}  ${dim(`${ms} ms`)}`
}

async function* listen(context: Context): AsyncGenerator<Shown | { readonly secret: string }> {
  const { io, signal, options: wanted } = context
  const secret = listenSecret(context.places, () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`)
  if (wanted.printSecret) {
    yield { secret }
    return
  }
  const handOn = receiverOf(context, secret)
  const line = await openLine(context, {
    signal,
    maxRetries: wanted.maxReconnect,
    onOutage: (one) => tell(context, one),
  })
  if (!wanted.once) io.say(`${green('●')} connected   ${line.session().target.name}   ${dim('ctrl-c ends it')}`)
  for await (const event of eventsOf(context, line)) {
    const delivery = handOn === undefined ? null : await handOn(event, line)
    yield shown(event, delivery)
  }
}

function shown({ cursor, id, type, created_at, subject, data }: OwnEvent, delivery: Handed | null): Shown {
  return { cursor, id, type, at: created_at, subject, data, delivery }
}

function tell({ io }: Context, { state, attempt }: Outage): void {
  if (state === 'lost') io.say(`${yellow('!')} connection lost, retrying (${attempt}) …`)
  else io.say(`${green('●')} connected again`)
}

async function* eventsOf({ io, options: wanted, signal }: Context, line: ProviderLine): AsyncGenerator<OwnEvent> {
  const { events: types, once } = wanted
  const start = startOf(wanted.since, io.now())
  let { cursor } = start
  for (let pages = 1; !signal.aborted; pages += 1) {
    const reading = { cursor, types, wait: !once }
    const page = await line.nextPage(reading).catch(endedBy(signal))
    if (page === undefined) return
    for (const event of page.events) if (Date.parse(event.created_at) >= start.notBefore) yield event
    if (once && (page.events.length === 0 || pages === ONCE_PAGES_MAX || !isLater(page.next_cursor, cursor))) return
    cursor = page.next_cursor
  }
}

/** ctrl-c ends the wait without a failure. */
function endedBy(signal: AbortSignal): (error: unknown) => EventPage | undefined {
  return (error) => {
    if (signal.aborted) return undefined
    throw error
  }
}

function startOf(since: string | undefined, now: number): { cursor: string | undefined; notBefore: number } {
  if (since === undefined) return { cursor: 'latest', notBefore: 0 }
  if (/^\d+$/.test(since)) return { cursor: since, notBefore: 0 }
  const ms = parseDuration(since)
  if (ms === undefined) throw usage(`--since must be a cursor or a duration such as 1h; you gave "${since}".`)
  return { cursor: undefined, notBefore: now - ms }
}

type Receiver = (event: OwnEvent, line: ProviderLine) => Promise<Handed>

function receiverOf(context: Context, secret: string): Receiver | undefined {
  const { io, system, signal, options: wanted } = context
  const machine = { now: io.now, sleep: system.sleep }
  const { forwardTo, exec, shell } = wanted
  if (forwardTo !== undefined && exec !== undefined) throw usage('--forward-to and --exec cannot be combined.')
  if (exec !== undefined) {
    return (event) => runFor(event, { ...machine, line: exec, shell, env: system.env, onOutput: io.say })
  }
  if (forwardTo === undefined) return undefined
  // Accepts `localhost:3000` without a scheme, as many servers print their address.
  const url = httpUrl(/^[\w.-]+:\d+(\/|$)/.test(forwardTo) ? `http://${forwardTo}` : forwardTo)
  if (url === null) {
    throw usage(`--forward-to must be a URL such as http://localhost:3000/hook; you gave "${forwardTo}".`)
  }
  const headers = Object.fromEntries(wanted.header.map(headerOf))
  io.note(`  signed with the secret of ${cyan(io.hint('souk listen --print-secret'))}`)
  const onRetry = ({ status, error, attempts }: Handed, waitMs: number) =>
    io.say(`${yellow('!')} ${status ?? error}   retry ${attempts}/${FORWARD_RETRIES} in ${span(waitMs)}`)
  return (event, line) =>
    forward(event, { ...machine, url, headers, secret, origin: line.session().target.url, signal, onRetry })
}

function headerOf(text: string): [string, string] {
  const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? []
  if (name === undefined || value === undefined) throw usage(`--header must be name:value; you gave "${text}".`)
  return [name.toLowerCase(), value]
}

const FORWARD_TIMEOUT_MS = 30_000
export const FORWARD_RETRIES = 5
const RETRY_FIRST_MS = 1_000
const OK_FROM = 200
const OK_BELOW = 300
const MAX_OUTPUT_BYTES = 1024 * 1024

/** How the program or URL responded to a forwarded event. */
export type Handed = {
  readonly ok: boolean
  /** HTTP status or exit code; null if there is neither. */
  readonly status: number | null
  readonly ms: number
  readonly attempts: number
  readonly error: string | null
}

type Machine = { readonly now: () => number; readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void> }

export type Forwarding = Machine & {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly secret: string
  /** Base URL to which relative paths in events are added. */
  readonly origin: string
  readonly signal: AbortSignal
  readonly onRetry: (handed: Handed, waitMs: number) => void
}

/** The event in the form of a webhook message: a dispatch has the type `job_dispatch` (decisions §10). */
export function messageOf(event: OwnEvent, origin: string): string {
  const { data, event_id, created_at } = event
  const isDispatch = event.type === 'job.dispatched' && data.callback_url !== undefined
  const callback = isDispatch ? { callback_url: atOrigin(String(data.callback_url), origin) } : {}
  const type = isDispatch ? 'job_dispatch' : event.type
  return JSON.stringify({ type, event_id, created_at, ...data, ...callback })
}

/** Points a callback URL to the instance that sent the event. No other server may receive the key in the URL. */
function atOrigin(named: string, origin: string): string {
  const url = URL.parse(named, origin)
  return url === null ? origin : new URL(origin).origin + url.pathname + url.search
}

/** POSTs a signed event, with retries, and waits for the result before the next event is sent. */
export async function forward(event: OwnEvent, forwarding: Forwarding): Promise<Handed> {
  const { signal, sleep, onRetry } = forwarding
  const body = messageOf(event, forwarding.origin)
  for (let attempts = 1; ; attempts += 1) {
    const handed = { ...(await post({ event, body }, forwarding)), attempts }
    if (handed.ok || attempts > FORWARD_RETRIES || signal.aborted) return handed
    const waitMs = RETRY_FIRST_MS * 2 ** (attempts - 1)
    onRetry(handed, waitMs)
    await sleep(waitMs, signal)
  }
}

async function post({ event, body }: { event: OwnEvent; body: string }, forwarding: Forwarding) {
  const { url, headers, secret, now, signal } = forwarding
  const startedAt = now()
  // The user gave the headers for this address, so they may go over plain HTTP.
  const reach = { timeoutMs: FORWARD_TIMEOUT_MS, inTheClear: 'everything' as const }
  const transport = createTransport({ baseUrl: url.origin, ...reach })
  try {
    const signed = signedHeaders({ id: event.event_id, body, secrets: [secret], wall: startedAt })
    const response = await transport({
      method: 'POST',
      path: url.pathname + url.search,
      headers: { 'content-type': 'application/json', ...signed, ...headers },
      body,
      signal,
    })
    await response.text()
    const { status } = response
    return { ok: status >= OK_FROM && status < OK_BELOW, status, ms: now() - startedAt, error: null }
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    return { ok: false, status: null, ms: now() - startedAt, error: error.message }
  }
}

export type Running = Machine & {
  readonly line: string
  readonly shell: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** Receives each line that the command prints. */
  readonly onOutput: (line: string) => void
}

/** Runs a command with the event as JSON on stdin. */
export async function runFor(event: OwnEvent, { line, shell, env, now, onOutput }: Running): Promise<Handed> {
  const startedAt = now()
  const { code, stdout, lastWords, failure } = await runProgram({
    line,
    shell,
    env: { ...env, SOUK_EVENT_ID: event.event_id, SOUK_EVENT_TYPE: event.type, SOUK_EVENT_CURSOR: event.cursor },
    stdin: `${JSON.stringify(event)}\n`,
    maxStdoutBytes: MAX_OUTPUT_BYTES,
    onStderrLine: onOutput,
  })
  for (const printed of stdout.toString('utf8').split('\n')) if (printed !== '') onOutput(printed)
  const ok = code === 0
  const error = ok ? null : (failure ?? (lastWords || 'the command was stopped by a signal'))
  return { ok, status: code, ms: now() - startedAt, attempts: 1, error }
}
