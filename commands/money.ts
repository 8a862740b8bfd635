import type { WireAnswer } from '../src/api/index.ts'
import { defineCall, defineCommand } from '../src/cli/command.ts'
import * as z from '../src/cli/params.ts'
import { dim, green, padEnd, padStart, red } from '../src/text/text.ts'

export const moneyAudit = defineCommand({
  name: 'money audit',
  summary: 'recompute the books and report differences',
  description: 'Needs the admin key of the instance.',
  options: z.object({ exitStatus: z.flag({ description: 'exit with code 11 if a check fails' }) }),
  examples: ['souk money audit', 'souk money audit --exit-status --json'],
  prints: 'getAudit',
  async run(context) {
    const report = await (await context.session()).call('getAudit', {})
    if (context.options.exitStatus && !report.ok) context.exit('check_failed')
    return report
  },
  view(report, io) {
    for (const { name, ok, detail } of report.checks) io.line(`${ok ? green('✓') : red('✗')} ${name}   ${detail}`)
    io.line(`${report.transactions} transactions, ${report.accounts} accounts, as of ${report.as_of.at}`)
  },
})

type River = WireAnswer<'getRiver'>
const NAME_COLUMNS = 18
const AMOUNT_COLUMNS = 16

export const moneyRiver = defineCall({
  name: 'money river',
  summary: "show today's cash flow: paid in, held in escrow, paid out",
  description: 'Covers the current day of business time, from midnight UTC. Needs the admin key of the instance.',
  examples: ['souk money river', 'souk money river -q .held'],
  asks: 'getRiver',
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
