import type { WireAnswer } from '../src/api/index.ts'
import { readsAsOperator } from '../src/cli/account.ts'
import { defineCommand, watchOptions } from '../src/cli/command.ts'
import { suggestedBy } from '../src/cli/hints.ts'
import type { Io } from '../src/cli/io.ts'
import type { Column } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { attentionRows } from '../src/nouns/attention.ts'
import { dim, green, red, yellow } from '../src/text/text.ts'

type Operators = WireAnswer<'getAttention'>
type Item = WireAnswer<'getOwnAttention'>['items'][number] | Operators['items'][number]

const columns: readonly Column<Item>[] = [
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'GRAVE', value: (item) => String(isGrave(item)) },
  { title: 'WHO', value: (item) => ('who' in item ? item.who : null) },
  { title: 'AMOUNT', value: ({ amount }) => (amount === null ? null : `$${amount}`), align: 'right' },
  { title: 'SINCE', value: ({ since }) => since },
  { title: 'WHAT', value: ({ sentence }) => sentence, flexible: true },
  { title: 'FIX', value: ({ fix }) => fix },
]

export const command = defineCommand({
  name: 'attention',
  heading: 'Daemon',
  summary: 'list problems, each with the command that fixes it',
  description:
    'With the admin key, it lists problems of the instance. Without the key, or with --as, it lists what waits for you.',
  options: z.object({
    exitStatus: z.flag({ description: 'exit with code 11 if there is a problem' }),
    ...watchOptions,
  }),
  examples: ['souk attention', 'souk attention --exit-status', 'souk attention --json'],
  async run(context) {
    const session = await context.session()
    const found = (await readsAsOperator(context, session))
      ? await session.call('getAttention', {})
      : await session.call('getOwnAttention', {})
    if (context.options.exitStatus && found.total > 0) context.exit('check_failed')
    return found
  },
  rows: ({ items }) => items,
  columns,
  view(found, io) {
    const { total } = found
    if (total === 0) io.line(`${green('✓')} no problems`)
    // The operator's items of one kind share a row.
    const rows = isOperators(found) ? attentionRows(found) : found.items.map((item) => ({ item, count: 1 }))
    for (const { item } of rows) printItem(item, io)
    const shown = rows.reduce((sum, { count }) => sum + count, 0)
    if (total > shown) io.note(`and ${total - shown} more of these kinds`)
  },
})

const isOperators = (found: Operators | WireAnswer<'getOwnAttention'>): found is Operators => 'platform' in found.counts

function printItem(item: Item, io: Io): void {
  io.line(headOf(item))
  io.line(`    ${suggestedBy(io, item.fix)}`)
}

function isGrave(item: Item): boolean {
  return 'grave' in item && item.grave
}

function headOf(item: Item): string {
  const { sentence, amount } = item
  const who = 'who' in item ? item.who : undefined
  const about = [who, amount === null ? undefined : `$${amount}`].filter((one) => typeof one === 'string')
  return `${isGrave(item) ? red('✗') : yellow('!')} ${sentence}${about.length === 0 ? '' : dim(`   ${about.join('   ')}`)}`
}
