import type { WireAnswer } from '../src/api/index.ts'
import { readsAsOperator } from '../src/cli/account.ts'
import { defineCommand } from '../src/cli/command.ts'
import { suggestedBy } from '../src/cli/hints.ts'
import * as z from '../src/cli/params.ts'
import { bold, dim, green, red, yellow } from '../src/text/text.ts'
import { zoneHere } from '../src/text/time.ts'

type Story = WireAnswer<'getRequestStory'>
type Step = Story['steps'][number]

const signs = { done: green('✓'), waits: yellow('●'), failed: red('✗') } as const

export const command = defineCommand({
  name: 'why',
  heading: 'Daemon',
  summary: 'trace an id: request, payment, job, deliveries, payout',
  description:
    'Shows one tree from the request down, in order of time, with commands for the next step. Without the admin key, or with --as, it shows only what is yours.',
  args: z.object({
    id: z.string().meta({
      description: 'id of a request, job, receipt, delivery, thread or payout; a wallet; or a transaction hash',
    }),
  }),
  options: z.object({}),
  examples: ['souk why job_0123456789abcdef', 'souk why job_0123456789abcdef --json'],
  async run(context) {
    const session = await context.session()
    const asked = { params: { id: context.args.id } }
    return (await readsAsOperator(context, session))
      ? session.call('getRequestStory', asked)
      : session.call('getOwnStory', asked)
  },
  view({ id, steps, next, lost }, io) {
    const stems = stemsOf(steps)
    for (const [at, step] of steps.entries()) io.line(`${dim(stems[at] ?? '')}${lineOf(step, id)}`)
    if (lost !== null) io.note(lost)
    if (io.settings.times === 'local')
      io.note(dim(`  times are ${zoneHere(io.now())}, by the clock of the marketplace (business time)`))
    for (const command of next) io.note(`  ${suggestedBy(io, command)}`)
  },
})

function lineOf({ sign, sentence, id, at, ms, amount }: Step, about: string): string {
  const took = ms === null ? undefined : `${ms} ms`
  const facts = [at ?? undefined, took, amount === null ? undefined : `$${amount}`, id ?? undefined].filter(
    (one) => one !== undefined,
  )
  return `${signs[sign]} ${id === about ? bold(sentence) : sentence}   ${dim(facts.join('  '))}`
}

/** Tree lines before each step. A line continues while another step of its depth and parent follows. */
function stemsOf(steps: readonly Pick<Step, 'depth'>[]): string[] {
  return steps.map(({ depth }, at) => {
    const goesOn = (level: number) => {
      const next = steps.slice(at + 1).find((later) => later.depth <= level)
      return next?.depth === level
    }
    const passed = Array.from({ length: Math.max(0, depth - 1) }, (_, level) => (goesOn(level + 1) ? '│  ' : '   '))
    if (depth === 0) return ''
    return `${passed.join('')}${goesOn(depth) ? '├─ ' : '└─ '}`
  })
}
