import { defineCommand } from '../../src/cli/command.ts'
import { CliError, usage } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import type { Session } from '../../src/cli/session.ts'
import { formatAmount, parseAmount, ZERO } from '../../src/core/money.ts'
import { cyan, green } from '../../src/text/text.ts'

const ALL = 'all'

export const command = defineCommand({
  name: 'balance withdraw',
  summary: 'withdraw your balance to your wallet',
  description: 'Sends a payout within a minute. The amount is locked until then. A wallet can have one pending payout.',
  args: z.object({ amount: z.string().meta({ description: `amount in USDC, such as 1.50, or "${ALL}"` }) }),
  examples: ['souk balance withdraw 0.50 --dry-run', 'souk balance withdraw 0.50 --dry-run --json'],
  prints: 'withdrawBalance',
  async run(context) {
    const { amount: text } = context.args
    const given = parseAmount(text)
    if (text !== ALL && (given === undefined || given === ZERO)) {
      throw usage(`The amount must be like 1.50, or "${ALL}"; you gave "${text}".`)
    }
    const session = await context.session()
    const headers = await session.ownHeaders()
    const amount = given === undefined ? await all(session, headers) : formatAmount(given)
    return session.call('withdrawBalance', {
      body: { amount },
      headers: { ...headers, 'idempotency-key': context.globals.idempotencyKey ?? crypto.randomUUID() },
    })
  },
  view({ withdrawn, wallet, payout_id: id, available: rest }, io) {
    io.line(`${green('✓')} $${withdrawn} is on its way to ${wallet} as ${id}; $${rest} stays available`)
    io.note(`  next: ${cyan(io.hint('souk balance history'))}`)
  },
})

async function all(session: Session, headers: Readonly<Record<string, string>>): Promise<string> {
  const { available, held } = await session.call('getBalance', { headers })
  if (parseAmount(available) !== ZERO) return available
  throw new CliError('conflict', `There is nothing to withdraw: $${available} is available, $${held} is on hold.`, {
    next: ['souk balance deposit 1.00', 'souk balance history'],
  })
}
