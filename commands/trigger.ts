import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import type { IdNoun } from '../src/core/id-prefixes.ts'
import { at, isKeyOf } from '../src/core/record.ts'
import type { Trigger, Triggered, TriggerName } from '../src/market/situations/run.ts'
import type { Makeable } from '../src/market/situations/scene.ts'
import type { EventSettings, SettingName } from '../src/market/situations/settings.ts'
import { bold, cyan, didYouMean, dim, green, span } from '../src/text/text.ts'

const ALIASES: Readonly<Record<string, TriggerName>> = { 'delivery.dead': 'webhook.failed' }

const REPEATS_MAX = 100

const args = z.object({
  event: z.text({ description: 'event such as job.disputed, or problem such as attention.overdue; see --list' }),
})
const options = z.object({
  for: z.text({ description: 'id of your object for the event; see --list', value: 'id' }),
  set: z.list({ description: 'event parameter, such as rating=2; see --list', value: 'name=value' }),
  repeat: z.between(1, REPEATS_MAX).default(1).meta({ description: 'number of times, one after another' }),
  list: z.flag({ description: 'list events and problems with their parameters' }),
})
type Context = CommandContext<z.output<typeof args>, z.output<typeof options>>

type Listed = { readonly type: string; readonly means: string } & (
  | { readonly why: string }
  | { readonly moves_ms: number; readonly about: readonly IdNoun[]; readonly settings: readonly SettingName[] }
)

const columns: readonly Column<Listed>[] = [
  { title: 'EVENT', value: ({ type }) => type },
  { title: 'FOR', value: (one) => ('why' in one ? null : one.about.join(', ')), drop: 2 },
  { title: 'SET', value: (one) => ('why' in one ? null : one.settings.join(', ')), drop: 1 },
  { title: 'CLOCK', value: (one) => ('why' in one || one.moves_ms === 0 ? null : `+${span(one.moves_ms)}`), drop: 3 },
  { title: 'MEANS', value: (one) => ('why' in one ? `not triggered directly: ${one.why}` : one.means), flexible: true },
]

export const command = defineCommand({
  name: 'trigger',
  heading: 'Daemon',
  summary: 'cause an event or a problem with the demo users, in a sandbox',
  description:
    'Demo users act until the event happens; nothing is faked. attention.KIND causes a problem that souk attention and the cockpit then show. With --for they buy your listing, bid on your request or dispute your job; you perform your own actions yourself. Some events need time to pass: business time is then moved, after confirmation.',
  args,
  options,
  examples: [
    'souk trigger job.disputed --set reason="The page is blank" --set category=quality',
    'souk trigger job.dispatched --for svc_0123456789abcdef --set input.text=hello',
    'souk trigger --list',
    'souk trigger attention.delivery',
    'souk trigger plan.created --repeat 2 --json',
  ],
  async run(context) {
    const { triggers } = await import('../src/market/situations/run.ts')
    if (context.options.list || context.args.event === undefined)
      return { events: Object.entries(triggers).map(([type, one]) => listed(type, one)) }
    const type = triggerName(context.args.event, triggers)
    const situation = triggers[type]
    if ('why' in situation) {
      const { why, next = 'souk trigger --list' } = situation
      throw new CliError('conflict', `${type} cannot be triggered: ${why}.`, { next: [next] })
    }
    const words = await said(context, type, situation)
    const { repeat } = context.options
    const moves = (situation.moves ?? 0) * repeat
    wouldDo(context.globals, `cause ${type}${repeat > 1 ? ` ${repeat} times` : ''}`)
    if (moves > 0) await context.io.confirm(`Move business time ahead by ${span(moves)} for ${type}?`)
    const events = await made(context, situation, { type, ...words })
    return { event: at(events, 0), made: events, moved_ms: moves }
  },
  rows: (data) => ('events' in data ? data.events : undefined),
  columns,
  view(data, io) {
    if ('events' in data) {
      printRows(io, columns, data.events)
      io.note(`  next      ${cyan(io.hint('souk trigger job.disputed --set reason="The page is blank"'))}`)
      return
    }
    for (const { type, subject, id } of data.made) io.line(`${green('✓')} ${bold(type)}   ${subject.id}   ${dim(id)}`)
    if (data.moved_ms > 0) io.line(`  clock     moved ahead by ${span(data.moved_ms)}`)
    const { type, subject } = data.event
    const next = type.startsWith('attention.') ? 'souk attention' : `souk why ${subject.id}`
    io.note(`  next      ${cyan(io.hint(next))}   ${cyan(io.hint('souk trigger --list'))}`)
  },
})

function listed(type: string, one: Trigger): Listed {
  const { means } = one
  if ('why' in one) return { type, means, why: one.why }
  return { type, means, moves_ms: one.moves ?? 0, about: one.about ?? [], settings: one.sets ?? [] }
}

/** @throws CliError `usage` that suggests the nearest name, for an unknown event or problem */
function triggerName(word: string, triggers: Readonly<Record<TriggerName, Trigger>>): TriggerName {
  const type = Object.hasOwn(ALIASES, word) ? (ALIASES[word] ?? word) : word
  if (isKeyOf(triggers, type)) return type
  const meant = didYouMean(word, Object.keys(triggers))
  throw usage(`There is no event "${word}"${meant}.`, { next: ['souk trigger --list'] })
}

type Words = { readonly on: string | undefined; readonly told: EventSettings }

/** Checks the settings given for an event. @throws CliError usage that names the wrong setting */
async function said({ options: given }: Context, type: TriggerName, situation: Makeable): Promise<Words> {
  const { BadSetting, subjectOf, parseSettings } = await import('../src/market/situations/settings.ts')
  try {
    const on = subjectOf(type, situation, given.for)
    return { on, told: parseSettings(type, situation, given.set) }
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error
    throw usage(error.message, { facts: error.facts, next: ['souk trigger --list'] })
  }
}

async function made(context: Context, situation: Makeable, words: Words & { readonly type: TriggerName }) {
  const session = await context.session()
  const { castAt, inFolder } = await import('../src/market/stage.ts')
  const { trigger } = await import('../src/market/situations/run.ts')
  const opened = await castAt(context, session)
  const headers = await session.adminHeaders()
  const events = (signal: AbortSignal) => session.open('streamEvents', { query: {}, headers, signal, timeoutMs: 0 })
  const { repeat } = context.options
  using progress = context.io.progress(words.type)
  return await inFolder(async (folder) => {
    const found: Triggered[] = []
    for (let turn = 1; turn <= repeat && !context.signal.aborted; turn += 1) {
      progress.update(repeat > 1 ? `${words.type}   ${turn} of ${repeat}` : words.type)
      found.push(await trigger({ ...opened, ...words, folder, events }, situation))
    }
    return found
  })
}
