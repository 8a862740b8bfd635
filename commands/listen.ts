import { randomBytes } from 'node:crypto'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { parseDuration } from '../src/cli/duration.ts'
import { usage } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { listenSecret } from '../src/client/secrets.ts'
import {
  type EventPage,
  isLater,
  type Outage,
  type OwnEvent,
  openLine,
  type ProviderLine,
} from '../src/provider/follow.ts'
import { FORWARD_RETRIES, forward, type Handed, runFor } from '../src/provider/forward.ts'
import { cyan, dim, green, red, span, yellow } from '../src/text/text.ts'

const SECRET_BYTES = 32
const MAX_RECONNECT = 1_000
/** An instance that never comes to an end of what there is, is not read for ever: 100,000 events. */
const ONCE_PAGES_MAX = 1_000

const options = z.object({
  events: z
    .string()
    .optional()
    .meta({ description: 'only these event types, such as job.*,message.created', value: 'types' }),
  forwardTo: z
    .string()
    .optional()
    .meta({ description: 'POST each event to this URL, signed like a webhook (localhost:3000 works)', value: 'url' }),
  header: z.array(z.string()).default([]).meta({ description: 'extra header for --forward-to', value: 'name:value' }),
  printSecret: z.boolean().default(false).meta({
    description: 'print the secret used for --forward-to (not the one of your account) and exit',
  }),
  exec: z
    .string()
    .optional()
    .meta({ description: 'run this command for each event, with JSON on stdin', value: 'command' }),
  shell: z.boolean().default(false).meta({ description: 'run the command in a shell' }),
  since: z
    .string()
    .optional()
    .meta({ description: 'start after this cursor, or this long ago (default: now)', value: 'cursor|duration' }),
  once: z.boolean().default(false).meta({ description: 'print existing items and exit' }),
  maxReconnect: z.int().min(0).default(MAX_RECONNECT).meta({ description: 'tries to reconnect to a lost instance' }),
})
type Host = CommandContext<unknown, z.output<typeof options>>

type Shown = {
  readonly cursor: string
  readonly id: string
  readonly type: string
  readonly at: string
  readonly subject: OwnEvent['subject']
  readonly data: OwnEvent['data']
  /** How it was taken by whom it was handed to; null where it was handed to nobody. */
  readonly delivery: Handed | null
}
type Item = Shown | { readonly secret: string }

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
    if ('secret' in item) {
      io.line(item.secret)
      return
    }
    const { at, type, subject, delivery } = item
    io.line(`${at.slice(11, 19)} ${type.padEnd(18)} ${subject.id}${delivery === null ? '' : `  ${taken(delivery)}`}`)
  },
})

function taken({ ok, status, ms, error }: Handed): string {
  const what = status === null ? (error ?? 'no answer') : String(status)
  return `→ ${ok ? green(what) : red(what)}  ${dim(`${ms} ms`)}`
}

async function* listen(context: Host): AsyncGenerator<Item> {
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

function tell({ io }: Host, { state, attempt }: Outage): void {
  if (state === 'lost') io.say(`${yellow('!')} connection lost, retrying (${attempt}) …`)
  else io.say(`${green('●')} connected again`)
}

async function* eventsOf({ io, options: wanted, signal }: Host, line: ProviderLine): AsyncGenerator<OwnEvent> {
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

/** Ctrl-c breaks the waiting: that is an end, no failure. */
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

function receiverOf(context: Host, secret: string): Receiver | undefined {
  const { io, system, signal, options: wanted } = context
  const machine = { now: io.now, sleep: system.sleep }
  const { forwardTo, exec, shell } = wanted
  if (forwardTo !== undefined && exec !== undefined) throw usage('Events go to --forward-to or to --exec, not to both.')
  if (exec !== undefined) {
    return (event) => runFor(event, { ...machine, line: exec, shell, env: system.env, onOutput: io.say })
  }
  if (forwardTo === undefined) return undefined
  // A host with its port alone is how a server says where it listens.
  const url = URL.parse(/^[\w.-]+:\d+(\/|$)/.test(forwardTo) ? `http://${forwardTo}` : forwardTo)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw usage(`--forward-to must be an address such as http://localhost:3000/hook; you gave "${forwardTo}".`)
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
