import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { formatAmount, parseAmount, ZERO } from '../../src/core/money.ts'
import { cyan, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'balance deposit',
  summary: 'add money from the wallet to the balance',
  args: z.object({ amount: z.string().meta({ description: 'amount in USDC, from 0.01 to 10000' }) }),
  examples: ['souk balance deposit 0.50', 'souk balance deposit 0.25 --json'],
  prints: 'deposit',
  async run(context) {
    const amount = parseAmount(context.args.amount)
    if (amount === undefined || amount === ZERO)
      throw usage(`The amount must be like 5.00; you gave "${context.args.amount}".`)
    const session = await context.session()
    const signing = { ...context, globals: { ...context.globals, pay: 'x402' as const } }
    const { answer } = await pay(signing, session, {
      endpoint: 'deposit',
      asked: { body: { amount: formatAmount(amount) } },
      shown: amount,
      stated: ({ credited }) => credited,
    })
    return answer
  },
  view({ credited, balance }, io) {
    io.line(`${green('✓')} $${credited} credited; the balance is $${balance}`)
    io.note(
      `  next: ${cyan(io.hint('souk services list'))}    take it out again: ${cyan(io.hint('souk balance withdraw all'))}`,
    )
  },
})
