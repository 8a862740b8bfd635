import { randomUUID } from 'node:crypto'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError } from '../src/cli/exit.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { type Choices, changes, countOf, notSent, play, type ReplayedRequest, whyNot } from '../src/cli/replay/play.ts'
import { readRecorded } from '../src/cli/replay/read.ts'
import type { ReplayRequest } from '../src/cli/replay/recorded.ts'
import { idPattern } from '../src/client/recording/shape.ts'
import { formatAmount, formatPrice } from '../src/core/money.ts'
import { bold, cyan, dim, green, red, span, yellow } from '../src/text/text.ts'

const RATE = /^(\d{1,4})\/(s|min)$/
const UNIT_MS = { s: 1_000, min: 60_000 } as const
const KINDS_SHOWN = 4

const args = z.object({
  file: z
    .string()
    .meta({ description: 'a recording, a log as souk logs --json prints it, a HAR file, or - for stdin' }),
})
const options = z.object({
  rate: z
    .codec((text) => (everyMs(text) === undefined ? undefined : text), 'must be like 10/s or 30/min, from 1 on')
    .optional()
    .meta({
      description: 'requests a second or a minute at most; else each once the one before is answered',
      value: 'n/s',
    }),
  reads: z.boolean().default(false).meta({ description: 'send only what changes nothing' }),
  paid: z
    .boolean()
    .default(false)
    .meta({ description: 'pay again for what was paid for, within --max-price and the limits of the wallet' }),
  admin: z.boolean().default(false).meta({ description: 'send what an administrator sent, with the admin key' }),
  statusOnly: z.boolean().default(false).meta({ description: 'compare statuses, not what answers consist of' }),
  ignore: z
    .array(z.string().regex(/^\./, 'must be a path as it is printed, such as .crons'))
    .default([])
    .meta({ description: 'a place of answers that may differ, with all below it', value: '.path' }),
  origin: z.string().optional().meta({ description: 'of a HAR file: the host whose requests are meant', value: 'url' }),
})
type Replaying = CommandContext<z.output<typeof args>, z.output<typeof options>>

/** Least time between two requests; undefined for what is no rate. */
function everyMs(rate: string): number | undefined {
  const [, count, unit] = RATE.exec(rate) ?? []
  return Number(count) > 0 ? UNIT_MS[unit === 's' ? 's' : 'min'] / Number(count) : undefined
}

const columns: readonly Column<ReplayedRequest>[] = [
  { title: 'LINE', value: ({ line }) => line, align: 'right' },
  { title: 'REQUEST', value: ({ method, path }) => `${method} ${path}`, flexible: true },
  { title: 'WAS', value: ({ was }) => was, align: 'right' },
  { title: 'IS', value: ({ is }) => is, align: 'right' },
  { title: 'RESULT', value: ({ outcome }) => outcome.replace('_', ' ') },
  { title: 'WHAT', value: whatOf, flexible: true },
  { title: 'MS', value: ({ ms }) => ms, align: 'right', drop: 2 },
  { title: 'WAS MS', value: ({ was_ms }) => was_ms, align: 'right', drop: 1 },
]

function whatOf({ differences, why }: ReplayedRequest): string | null {
  const found = differences.map(({ at, was, is }) => {
    if (was === null) return `${at} is new`
    return is === null ? `${at} is gone` : `${at} ${was} → ${is}`
  })
  return why ?? (found.length > 0 ? found.join(', ') : null)
}

export const command = defineCommand({
  name: 'replay',
  heading: 'Health and interface',
  summary: 'send recorded requests to an instance again, and compare what it answers',
  description:
    'Any command with --record FILE adds its requests to a recording: without credentials, and of answers only what they consist of. They are sent in order, as whoever acts here; ids that the instance gives anew take the places of those of the recording. What was paid for is left out, or with --paid paid for as any purchase is: signatures of a file are never sent. A run that was cut off goes on without paying twice under its --idempotency-key. Exits with 11 where an answer differs or does not come.',
  args,
  options,
  examples: [
    'souk replay story.ndjson',
    'souk replay story.ndjson --reads --rate 10/s --json',
    'souk replay story.ndjson --dry-run',
    'souk replay story.ndjson --yes --ignore .crons',
  ],
  async run(context) {
    const { args: given, options: wanted, io, globals } = context
    const { format, requests } = await readRecorded({ file: given.file, io }, wanted.origin)
    const choices: Choices = { ...wanted, ignored: wanted.ignore, everyMs: everyMs(wanted.rate ?? '') ?? 0 }
    refuseNothing(given.file, requests, choices)
    const runKey = globals.idempotencyKey ?? randomUUID()
    const startedAt = io.now()
    const { instance, played } = globals.dryRun
      ? { instance: null, played: requests.map((one) => planned(one, choices)) }
      : await playedAt(context, { choices, runKey }, requests)
    const amount = (outcome: ReplayedRequest['outcome']) => countOf(played, outcome)
    if (context.signal.aborted) context.exit('interrupted')
    else if (amount('different') + amount('no_answer') > 0) context.exit('check_failed')
    else if (!globals.dryRun && amount('not_sent') > 0) context.exit('payment')
    return {
      file: given.file,
      format,
      instance,
      requests: played.length,
      same: amount('same'),
      different: amount('different'),
      skipped: amount('skipped'),
      no_answer: amount('no_answer'),
      not_sent: amount('not_sent'),
      paid: formatAmount(context.budget.spent()),
      took_ms: io.now() - startedAt,
      idempotency_key: wanted.paid ? runKey : null,
      results: played,
    }
  },
  rows: ({ results }) => results,
  columns,
  view(run, io) {
    const shown = run.results.filter(({ outcome }) => !['same', 'skipped'].includes(outcome))
    printRows(io, columns, shown)
    if (shown.length > 0) io.line()
    const isPlan = run.instance === null
    const sign = run.different + run.no_answer > 0 ? red('✗') : green('✓')
    io.line(`${isPlan ? yellow('–') : sign} ${sentenceOf(run)}`)
    for (const [why, count] of reasons(run.results)) io.line(`  ${dim(`${count} skipped: ${why}`)}`)
    if (run.idempotency_key !== null && run.not_sent + run.no_answer > 0)
      io.note(`  next      ${cyan(io.hint(`… --idempotency-key ${run.idempotency_key}`))} goes on without paying twice`)
  },
})

type Run = {
  /** Null where nothing was to be sent. */
  readonly instance: string | null
  readonly requests: number
  readonly same: number
  readonly different: number
  readonly no_answer: number
  readonly not_sent: number
  readonly paid: string
  readonly took_ms: number
}

function sentenceOf({ instance, same, different, no_answer, not_sent, paid, took_ms, requests }: Run): string {
  if (instance === null) return `${not_sent} of ${requests} requests would be sent; nothing was`
  const parts = [`${same} the same`, `${different} different`]
  if (no_answer > 0) parts.push(`${no_answer} without an answer`)
  if (not_sent > 0) parts.push(`${not_sent} not sent`)
  const cost = Number(paid) > 0 ? `   paid $${paid}` : ''
  return `${bold(parts.join(', '))} at ${instance}   ${span(took_ms)}${cost}`
}

function reasons(results: readonly ReplayedRequest[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const { outcome, why } of results) {
    if (outcome === 'skipped' && why !== null) found.set(why, (found.get(why) ?? 0) + 1)
  }
  return found
}

function planned(one: ReplayRequest, choices: Choices): ReplayedRequest {
  const why = whyNot(one, choices)
  return why === undefined
    ? notSent(one, 'not_sent', one.auth === 'payment' ? 'would be paid for' : 'would be sent')
    : notSent(one, 'skipped', why)
}

/** A run that sends nothing must not look like one in which all is well. */
function refuseNothing(file: string, requests: readonly ReplayRequest[], choices: Choices): void {
  const why = [...new Set(requests.map((one) => whyNot(one, choices)))]
  if (why.includes(undefined)) return
  throw new CliError('usage', `Nothing of ${file} can be sent.`, { facts: why.slice(0, KINDS_SHOWN).map(String) })
}

type Sending = { readonly choices: Choices; readonly runKey: string }

async function playedAt(context: Replaying, { choices, runKey }: Sending, requests: readonly ReplayRequest[]) {
  const session = await context.session()
  const sent = requests.filter((one) => whyNot(one, choices) === undefined)
  await makeSure(context, session.target.name, sent)
  if (sent.some(({ auth }) => auth === 'key') && (await session.apiKey()) === undefined)
    context.io.say(
      `! nobody is registered here to act as: what had a key goes without one   ${context.io.hint('souk account register')}`,
    )
  const played = await play({ context, session, choices, runKey }, requests)
  return { instance: session.target.name, played }
}

/** A file of somebody else's may hold anything: what would change something is counted before it is sent. */
async function makeSure(
  { io, globals, budget }: Replaying,
  name: string,
  sent: readonly ReplayRequest[],
): Promise<void> {
  const changing = sent.filter(changes)
  if (changing.length === 0) return
  const paying = sent.filter(({ auth }) => auth === 'payment').length
  const cost =
    paying > 0 ? `, and ${paying} are paid for with ${formatPrice(budget.left(globals.maxPrice))} at most in all` : ''
  await io.confirm(
    `${changing.length} of ${sent.length} requests may change something at ${name}${cost}: ${kinds(changing)}. Send them?`,
  )
}

function kinds(requests: readonly ReplayRequest[]): string {
  const found = new Map<string, number>()
  for (const { method, path } of requests) {
    const kind = `${method} ${path.split('?')[0]?.replace(new RegExp(idPattern, 'g'), 'ID') ?? ''}`
    found.set(kind, (found.get(kind) ?? 0) + 1)
  }
  const shown = [...found].toSorted(([, a], [, b]) => b - a).map(([kind, count]) => `${count} × ${kind}`)
  return shown.slice(0, KINDS_SHOWN).join(', ') + (shown.length > KINDS_SHOWN ? ', …' : '')
}
