import type { WireAnswer } from '../src/api/endpoint/define.ts'
import type { Api } from '../src/api/index.ts'
import { defineCommand } from '../src/cli/command.ts'
import { suggestedBy } from '../src/cli/hints.ts'
import type { Io } from '../src/cli/io.ts'
import type { Column } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { watchOptions } from '../src/cli/run/watched.ts'
import { dim, green, red, yellow } from '../src/text/text.ts'

type Attention = WireAnswer<Api['getAttention']>
type Item = Attention['items'][number]

const columns: readonly Column<Item>[] = [
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'GRAVE', value: ({ grave }) => String(grave) },
  { title: 'WHO', value: ({ who }) => who },
  { title: 'AMOUNT', value: ({ amount }) => (amount === null ? null : `$${amount}`), align: 'right' },
  { title: 'SINCE', value: ({ since }) => since },
  { title: 'WHAT', value: ({ sentence }) => sentence, flexible: true },
  { title: 'FIX', value: ({ fix }) => fix },
]

export const command = defineCommand({
  name: 'attention',
  heading: 'Daemon',
  summary: 'list problems, each with the command that fixes it',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    exitStatus: z.boolean().default(false).meta({ description: 'exit with code 11 if there is a problem' }),
    ...watchOptions,
  }),
  examples: ['souk attention', 'souk attention --exit-status', 'souk attention --json'],
  async run(context) {
    const found = await (await context.session()).call('getAttention', {})
    if (context.options.exitStatus && found.total > 0) context.exit('check_failed')
    return found
  },
  rows: ({ items }) => items,
  columns,
  view({ items, total }, io) {
    if (total === 0) io.line(`${green('✓')} nothing needs a hand`)
    for (const item of items) printItem(item, io)
    if (total > items.length) io.note(`and ${total - items.length} more of these kinds`)
  },
})

function printItem(item: Item, io: Io): void {
  io.line(headOf(item))
  io.line(`    ${suggestedBy(io, item.fix)}`)
}

function headOf({ grave, sentence, who, amount }: Item): string {
  const about = [who, amount === null ? undefined : `$${amount}`].filter((one) => typeof one === 'string')
  return `${grave ? red('✗') : yellow('!')} ${sentence}${about.length === 0 ? '' : dim(`   ${about.join('   ')}`)}`
}
