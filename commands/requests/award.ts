import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { formatAmount } from '../../src/core/money.ts'
import { bold, cyan, green, yellow } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'requests award',
  summary: 'accept a bid: pay it into escrow and open the job',
  aliases: ['postings award'],
  args: z.object({
    request: z.string().meta({ description: 'id of the request' }),
    bid: z.string().meta({ description: 'id of the bid' }),
  }),
  examples: [
    'souk requests award post_0123456789abcdef bid_0123456789abcdef --max-price 20',
    'souk requests award post_0123456789abcdef bid_0123456789abcdef --max-price 20 --json',
  ],
  async run(context) {
    const { request, bid } = context.args
    const session = await context.session()
    const { answer: awarded, payment } = await pay(context, session, {
      endpoint: 'awardPosting',
      asked: { params: { id: request }, body: { bid_id: bid } },
      stated: ({ amount }) => amount,
    })
    const { method, payer, transaction, amount } = payment
    return { ...awarded, payment: { method, amount: formatAmount(amount), payer, transaction } }
  },
  view({ amount, payment, receipt_id, job_id, status }, io) {
    const from = payment.method === 'balance' ? 'from balance' : 'by x402'
    io.line(`${green('✓')} paid ${bold(`$${amount}`)} ${from} into escrow   receipt ${receipt_id}`)
    io.line(`${yellow('●')} ${job_id} ${status}`)
    io.note(`  next: ${cyan(io.hint(`souk jobs view ${job_id}`))}`)
  },
})
