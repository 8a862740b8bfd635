import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import type { Session } from '../../src/cli/session.ts'
import type { Delivery } from '../../src/nouns/deliveries.ts'
import { dim, green, red, yellow } from '../../src/text/text.ts'
import { readPage } from '../webhooks.ts'

const INTERVAL_MS = 1_000
const DEFAULT_LAST = 10
const LAST_MAX = 100
/** Maximum number of deliveries per poll in each of two lists: the newest deliveries, and the pending ones. */
const WATCHED_ROWS = 100
/** Number of failed polls in a row after which the command gives up. */
const LOST_MAX = 1_000

const options = z.object({
  last: z.between(0, LAST_MAX).default(DEFAULT_LAST).meta({ description: 'number of earlier tries to show first' }),
  failed: z.flag({ description: 'only failed tries' }),
  once: z.flag({ description: 'print the tries so far and exit' }),
})
type Context = CommandContext<unknown, z.output<typeof options>>

type Try = ReturnType<typeof triesIn>[number]

export const command = defineCommand({
  name: 'webhooks tail',
  summary: 'follow each try to deliver a webhook, live',
  description: 'Each line is one try: event, response and duration. Stop with ctrl-c.',
  options,
  examples: ['souk webhooks tail --once', 'souk webhooks tail --failed --once --ndjson'],
  run: (context) => followed(context),
  view({ at, type, delivery_id: id, number, status, latency_ms: ms, error }, io) {
    const what = status === null ? 'no answer' : String(status)
    const sign = isTaken({ status, error }) ? green(what) : red(what)
    io.line(
      `${at.slice(11, 19)} ${type.padEnd(18)} ${id}  try ${number}  ${sign}  ${dim(`${ms} ms`)}  ${error ?? ''}`.trimEnd(),
    )
  },
})

async function* followed(context: Context): AsyncGenerator<Try> {
  const { options: wanted, signal, system } = context
  const look = lookerAt(context, await context.session())
  let seen: ReadonlyMap<string, number> | undefined
  while (!signal.aborted) {
    const rows = await look()
    const fresh = rows === undefined ? [] : triesIn(rows, seen)
    const shown = seen === undefined ? fresh.slice(Math.max(0, fresh.length - wanted.last)) : fresh
    if (rows !== undefined) seen = new Map(rows.map(({ delivery_id: id, attempts }) => [id, attempts.length]))
    yield* wanted.failed ? shown.filter((one) => !isTaken(one)) : shown
    if (wanted.once) return
    await system.sleep(INTERVAL_MS, signal)
  }
}

/** Returns a function that polls once. If the instance is unreachable, that function says so and returns undefined. */
function lookerAt({ io, options: wanted }: Context, session: Session) {
  let lost = 0
  return async (): Promise<readonly Delivery[] | undefined> => {
    try {
      const rows = await rowsOf(session)
      lost = 0
      return rows
    } catch (error) {
      lost += 1
      const isAway = error instanceof CliError && error.exit === 'no_daemon'
      if (!isAway || wanted.once || lost > LOST_MAX) throw error
      if (lost === 1) io.say(`${yellow('!')} connection lost, retrying …`)
      return undefined
    }
  }
}

async function rowsOf(session: Session): Promise<readonly Delivery[]> {
  const page = { limit: WATCHED_ROWS, page: 1 }
  const [newest, open] = [
    await readPage(session, { ...page, status: undefined }),
    await readPage(session, { ...page, status: 'pending' }),
  ]
  return [...new Map([...newest.deliveries, ...open.deliveries].map((row) => [row.delivery_id, row])).values()]
}

/** New delivery attempts, oldest first. */
function triesIn(rows: readonly Delivery[], seen: ReadonlyMap<string, number> = new Map()) {
  return rows
    .flatMap(({ delivery_id, event_id, type, url, status: state, attempts }) =>
      attempts.map(({ at, status, latency_ms, error }, i) => {
        const facts = { at, status, latency_ms, error }
        return { ...facts, delivery_id, event_id, type, number: i + 1, state, url }
      }),
    )
    .filter(({ delivery_id: id, number }) => number > (seen.get(id) ?? 0))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

function isTaken({ status, error }: Pick<Try, 'status' | 'error'>): boolean {
  return error === null && status !== null && status >= 200 && status < 300
}
