import type { WireAnswer } from '../../../src/api/endpoint/define.ts'
import type { Api } from '../../../src/api/index.ts'
import { defineCall } from '../../../src/cli/command.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import { bold } from '../../../src/text/text.ts'

type Feature = WireAnswer<Api['getFeatures']>['features'][number]

const columns: readonly Column<Feature>[] = [
  { title: 'FEATURE', value: ({ name }) => name },
  { title: 'STATE', value: ({ enabled }) => (enabled ? 'on' : 'off') },
  { title: 'ROWS', value: ({ rows }) => rows.join(', '), flexible: true },
]

export const command = defineCall({
  name: 'admin features list',
  isDefault: true,
  summary: 'show feature switches, terms and the checkout cutover',
  description: 'Needs the admin key of the instance.',
  examples: ['souk admin features', 'souk admin features list --json'],
  asks: 'getFeatures',
  asked: () => ({}),
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
