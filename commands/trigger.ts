import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { isKeyOf } from '../src/core/record.ts'
import { type EventType, eventTypes } from '../src/model/event-types.ts'
import { bold, cyan, dim, green, nearest, span } from '../src/text/text.ts'

/** What an event is also called. */
const ALIASES: Readonly<Record<string, EventType>> = { 'delivery.dead': 'webhook.failed' }

const args = z.object({
  event: z.string().optional().meta({ description: 'such as job.disputed; see --list' }),
})
const options = z.object({
  list: z.boolean().default(false).meta({ description: 'every event, and how it comes about' }),
})
type Wanted = CommandContext<z.output<typeof args>, z.output<typeof options>>

export const command = defineCommand({
  name: 'trigger',
  heading: 'Daemon',
  summary: 'make an event happen in a sandbox, by real acts of people of the demo',
  description:
    'Somebody buys, disputes, subscribes or is suspended until the event is there; nothing is made up. Some events need time to pass: business time is moved for them, after asking.',
  args,
  options,
  examples: ['souk trigger job.disputed', 'souk trigger --list', 'souk trigger plan.created --json'],
  async run(context) {
    const { situations } = await import('../src/market/situations/index.ts')
    if (context.options.list || context.args.event === undefined) return { events: Object.keys(eventTypes).map(listed) }
    const type = eventType(context.args.event)
    const situation = situations[type]
    if ('why' in situation) throw new CliError('conflict', `${type} cannot be made to happen: ${situation.why}.`)
    wouldDo(context.globals, `make ${type} happen`)
    if (situation.moves !== undefined) {
      await context.io.confirm(`Move the clock of the marketplace by ${span(situation.moves)} for ${type}?`)
    }
    return { event: await made(context, type), moved_ms: situation.moves ?? 0 }

    function listed(name: string) {
      const one = situations[name as EventType] // a key of the list
      return {
        type: name,
        means: eventTypes[name as EventType],
        ...('why' in one ? { why: one.why } : { moves_ms: one.moves ?? 0 }),
      }
    }
  },
  rows: (data) => ('events' in data ? data.events : undefined),
  view(data, io) {
    if ('events' in data) {
      for (const one of data.events) {
        io.line(`${one.type.padEnd(34)}${one.means}   ${dim(asideOf(one))}`)
      }
      return
    }
    const { event, moved_ms: moved } = data
    io.line(`${green('✓')} ${bold(event.type)}   ${event.subject.id}   ${dim(event.id)}`)
    if (moved > 0) io.line(`  clock     moved on by ${span(moved)}`)
    io.note(`  next      ${cyan(io.hint('souk trigger --list'))}`)
  },
})

type Listed = { readonly why: string } | { readonly moves_ms: number }

function asideOf(one: Listed): string {
  if ('why' in one) return `not by hand: ${one.why}`
  return one.moves_ms > 0 ? `moves the clock by ${span(one.moves_ms)}` : ''
}

/** @throws CliError usage with the name that was probably meant. */
function eventType(word: string): EventType {
  const type = ALIASES[word] ?? word
  if (isKeyOf(eventTypes, type)) return type
  const near = nearest(word, Object.keys(eventTypes))
  throw usage(`There is no event "${word}"${near ? ` (did you mean ${near}?)` : ''}.`, {
    next: ['souk trigger --list'],
  })
}

async function made(context: Wanted, type: EventType) {
  const session = await context.session()
  const { castAt } = await import('../src/market/stage.ts')
  const { situations } = await import('../src/market/situations/index.ts')
  const { trigger } = await import('../src/market/situations/run.ts')
  const { inFolder } = await import('../src/market/stage.ts')
  const situation = situations[type]
  if ('why' in situation) throw new CliError('conflict', situation.why)
  const opened = await castAt(context, session)
  const headers = await session.adminHeaders()
  const events = (signal: AbortSignal) => session.open('streamEvents', { query: {}, headers, signal, timeoutMs: 0 })
  return inFolder((folder) => trigger({ ...opened, type, folder, events }, situation))
}
