import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCall } from '../../src/cli/command.ts'
import { dim, green, padEnd, padStart, red } from '../../src/text/text.ts'

type River = WireAnswer<Api['getRiver']>
const NAME_COLUMNS = 18
const AMOUNT_COLUMNS = 16

export const command = defineCall({
  name: 'money river',
  summary: "show today's cash flow: paid in, held in escrow, paid out",
  description: 'Covers the current day of business time, from midnight UTC. Needs the admin key of the instance.',
  examples: ['souk money river', 'souk money river -q .held'],
  asks: 'getRiver',
  asked: () => ({}),
  view(river, io) {
    for (const [name, amount, more] of linesOf(river)) {
      io.line(`${padEnd(name, NAME_COLUMNS)}${padStart(`$${amount}`, AMOUNT_COLUMNS)}  ${dim(more)}`)
    }
    io.line(
      river.agrees
        ? `${green('✓')} the books agree`
        : `${red('✗')} the books do not agree   → ${io.hint('souk money audit')}`,
    )
  },
})

function linesOf(river: River): readonly (readonly [name: string, amount: string, more: string])[] {
  return [
    ['paid in', river.paid_in, `${river.sales} sales; by x402 $${river.by_x402}, by balance $${river.by_balance}`],
    ['held in escrow', river.held, `${river.held_jobs} jobs; $${river.opening} at midnight`],
    ['  disputed', river.disputed, ''],
    ['  overdue', river.overdue, ''],
    ['to providers', river.providers, `$${river.owed} is not yet sent`],
    ['fees', river.fees, ''],
    ['refunds', river.refunds, ''],
    ['reached wallets', river.sent, ''],
  ]
}
