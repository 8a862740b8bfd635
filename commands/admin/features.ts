import type { WireAnswer } from '../../src/api/index.ts'
import { defineCall, defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { makeSure } from '../../src/cli/nouns/pause.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { bold, didYouMean, dim, green } from '../../src/text/text.ts'

const columns: readonly Column<WireAnswer<'getFeatures'>['features'][number]>[] = [
  { title: 'FEATURE', value: ({ name }) => name },
  { title: 'STATE', value: ({ enabled }) => (enabled ? 'on' : 'off') },
  { title: 'ROWS', value: ({ rows }) => rows.join(', '), flexible: true },
]

export const adminFeaturesList = defineCall({
  name: 'admin features list',
  isDefault: true,
  summary: 'show feature switches, terms and the checkout cutover',
  description: 'Needs the admin key of the instance.',
  examples: ['souk admin features', 'souk admin features list --json'],
  asks: 'getFeatures',
  rows: ({ features }) => features,
  columns,
  view({ checkout_v2: cutover, terms_required: terms, features }, io) {
    io.line(
      `checkout_v2      ${bold(cutover ? 'on' : 'off')}   ${cutover ? 'disabled endpoints return 410' : 'all endpoints work'}`,
    )
    io.line(
      `terms_required   ${bold(terms ? 'on' : 'off')}   ${terms ? 'sellers must accept the terms' : 'not required'}`,
    )
    printRows(io, columns, features)
  },
})

const switches = ['checkout_v2', 'terms_required'] as const
const states = ['on', 'off'] as const

export const adminFeaturesSet = defineCommand({
  name: 'admin features set',
  summary: 'turn a feature or a switch on or off',
  description:
    'checkout_v2 disables the endpoints that it replaces. terms_required makes sellers accept the terms. For other names see `souk admin features`. Needs the admin key of the instance.',
  args: z.object({
    name: z.string().meta({ description: `${switches.join(', ')}, or the name of a feature` }),
    state: z.enum(states).meta({ description: 'on or off' }),
  }),
  options: z.object({ reason: z.text({ description: 'reason, saved in the log', value: 'text' }) }),
  examples: [
    'souk admin features set checkout_v2 off --dry-run --yes',
    'souk admin features set terms_required off --yes --json',
  ],
  async run(context) {
    const { name, state } = context.args
    const session = await context.session()
    const isSwitch = switches.some((one) => one === name)
    if (!isSwitch)
      mustBe(
        name,
        (await session.call('getFeatures', {})).features.map((one) => one.name),
      )
    await makeSure(context, session, { says: `turns ${name} ${state} at` })
    const on = state === 'on'
    const change = isSwitch ? { [name]: on } : { features: { [name]: on } }
    const set = await session.call('setFeatures', { body: { ...change, ...compact(context.options) } })
    return { name, state, ...set }
  },
  view({ name, state, changed }, io) {
    io.line(`${changed ? green('✓') : dim('·')} ${bold(name)} is ${state}${changed ? '' : dim('   (already so)')}`)
  },
})

function mustBe(name: string, known: readonly string[]): void {
  if (known.includes(name)) return
  const all = [...switches, ...known]
  throw usage(`Unknown switch or feature: ${name}${didYouMean(name, all)}.`, {
    facts: [all.join(', ')],
    next: ['souk admin features'],
  })
}
