import { defineCommand } from '../../src/cli/command.ts'
import { showNoun } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { formatAmount } from '../../src/core/money.ts'
import { subscription as noun } from '../../src/nouns/subscriptions.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'plans subscribe',
  summary: 'subscribe to a plan: pay the first period, then use its services for free',
  description: 'Later periods are charged to your balance. Top it up with `souk balance deposit`.',
  args: z.object({ plan: z.string().meta({ description: 'id of the plan' }) }),
  examples: [
    'souk plans subscribe plan_0123456789abcdef',
    'souk plans subscribe plan_0123456789abcdef --pay x402 --json',
  ],
  async run(context) {
    const session = await context.session()
    const { answer, payment } = await pay(context, session, {
      endpoint: 'subscribe',
      asked: { params: { id: context.args.plan } },
      stated: ({ amount }) => amount,
    })
    const { method, payer, transaction, amount } = payment
    const paid = { method, amount: formatAmount(amount), payer, transaction }
    return { ...answer, paid }
  },
  view({ paid, ...subscription }, io) {
    const from = paid.method === 'balance' ? 'from balance' : 'by x402'
    io.line(`${green('✓')} paid ${bold(`$${paid.amount}`)} ${from}   receipt ${subscription.receipt_id}`)
    showNoun(noun, subscription, io)
    io.note(`  next      ${cyan(io.hint(`souk buy ${subscription.service_ids[0]}`))}`)
  },
})
