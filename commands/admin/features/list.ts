import type { WireAnswer } from '../../../src/api/endpoint/define.ts'
import type { Api } from '../../../src/api/index.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { bold } from '../../../src/text/text.ts'

type Feature = WireAnswer<Api['getFeatures']>['features'][number]

const columns: readonly Column<Feature>[] = [
  { title: 'FEATURE', value: ({ name }) => name },
  { title: 'STATE', value: ({ enabled }) => (enabled ? 'on' : 'off') },
  { title: 'ROWS', value: ({ rows }) => rows.join(', '), flexible: true },
]

export const command = defineCommand({
  name: 'admin features list',
  isDefault: true,
  summary: 'show feature switches, terms and the checkout cutover',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk admin features', 'souk admin features list --json'],
  run: async (context) => (await context.session()).call('getFeatures', {}),
  rows: ({ features }) => features,
  columns,
  view({ checkout_v2: cutover, terms_required: terms, features }, io) {
    io.line(
      `checkout_v2      ${bold(cutover ? 'on' : 'off')}   ${cutover ? 'shelved rows answer 410' : 'every row answers'}`,
    )
    io.line(
      `terms_required   ${bold(terms ? 'on' : 'off')}   ${terms ? 'who lists accepts them by name' : 'not asked'}`,
    )
    printRows(io, columns, features)
  },
})
