import { z } from 'zod'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import { Duration } from '../src/cli/run/values.ts'
import { LOCAL, readSettings } from '../src/client/settings.ts'
import { compact } from '../src/core/record.ts'
import { type LogLine, readRecord, recordLine } from '../src/lifecycle/log-record.ts'
import { followLines, loggedLines } from '../src/lifecycle/log-tail.ts'
import { logLevels } from '../src/model/log.ts'

const DEFAULT_TAIL_LINES = 100
const REMOTE_LINES_MAX = 1_000

const options = z.object({
  follow: z.boolean().default(false).meta({ short: 'f', description: 'go on with new lines, across restarts' }),
  tail: z.int().min(0).default(DEFAULT_TAIL_LINES).meta({ description: 'how many of the last lines' }),
  since: Duration.optional().meta({ description: 'not older than this', value: 'duration' }),
  level: z.enum(logLevels).default('debug').meta({ description: 'least level' }),
  source: z.string().optional().meta({ description: 'of one part: http, cron, webhook, x402, store', value: 'name' }),
  status: z.string().optional().meta({ description: 'HTTP status: 402 or 4xx', value: 'code' }),
  grep: z.string().optional().meta({ description: 'lines that match a regular expression', value: 'regex' }),
  request: z.string().optional().meta({ description: 'lines of one request', value: 'req_…' }),
})
type Options = z.output<typeof options>

export const command = defineCommand({
  name: 'logs',
  heading: 'Daemon',
  summary: 'show what the daemon logged',
  args: z.object({}),
  options,
  examples: ['souk logs', 'souk logs --level warn --since 1h', 'souk logs --source http --status 4xx --ndjson'],
  run: (context) => records(context),
  view: (fields, io) => io.line(recordLine(readRecord(JSON.stringify(fields)))),
})

async function* records(context: CommandContext<unknown, Options>): AsyncGenerator<LogLine['fields']> {
  const { options: wanted, io, places, system, signal } = context
  const matches = matcher(wanted, io.now())
  const local = isLocal(context)
  const past = (local ? loggedLines(places.state).map(readRecord) : await remoteRecords(context)).filter(matches)
  for (const record of past.slice(-wanted.tail || past.length)) if (wanted.tail > 0) yield record.fields
  if (!wanted.follow) return
  if (!local) throw usage('--follow reads the log of the local daemon only.')
  for await (const line of followLines(places.state, system, signal)) {
    const record = readRecord(line)
    if (matches(record)) yield record.fields
  }
}

function isLocal({ globals, places }: CommandContext<unknown, Options>): boolean {
  return globals.baseUrl === undefined && (globals.remote ?? readSettings(places).remote ?? LOCAL) === LOCAL
}

async function remoteRecords(context: CommandContext<unknown, Options>): Promise<LogLine[]> {
  const session = await context.session()
  const { level, source, request } = context.options
  const query = { ...compact({ level, source, request }), limit: String(REMOTE_LINES_MAX) }
  const { records } = await session.call('getLogs', { query })
  return records.map((record) => readRecord(JSON.stringify(record)))
}

function matcher(wanted: Options, now: number): (record: LogLine) => boolean {
  const least = logLevels.indexOf(wanted.level)
  const oldest = wanted.since === undefined ? undefined : now - wanted.since
  const grep = expression(wanted.grep)
  const status = wanted.status === undefined ? undefined : new RegExp(`^${wanted.status.replaceAll('x', '\\d')}$`)
  return (record) =>
    logLevels.indexOf(record.level) >= least &&
    (oldest === undefined || record.atMs >= oldest) &&
    (wanted.source === undefined || record.source === wanted.source) &&
    (wanted.request === undefined || record.fields.request_id === wanted.request) &&
    (status === undefined || status.test(String(record.fields.status))) &&
    (grep === undefined || grep.test(JSON.stringify(record.fields)))
}

function expression(text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined
  try {
    return new RegExp(text, 'i')
  } catch (cause) {
    throw usage(`--grep is no regular expression: ${cause instanceof Error ? cause.message : text}.`, { cause })
  }
}
