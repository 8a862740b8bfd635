import { defineCall } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { bold, green } from '../../src/text/text.ts'

const MAX_DAYS = 365

export const command = defineCall({
  name: 'threads propose',
  summary: 'offer a price, as the provider; replaces your earlier offer',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({
    price: z.string().meta({ description: 'your price in USDC, such as 25.00', value: 'usd' }),
    days: z.int().min(1).max(MAX_DAYS).optional().meta({ description: 'delivery time' }),
    delivery: z.string().optional().meta({ description: 'delivery time in words, such as "2 hours"', value: 'time' }),
    message: z.string().optional().meta({ short: 'm', description: 'message to send with it', value: 'text' }),
  }),
  examples: [
    'souk threads propose thr_0123456789abcdef --price 0.50',
    'souk threads propose thr_0123456789abcdef --price 0.50 --days 3 -m "By Friday" --json',
  ],
  asks: 'proposePrice',
  asked(context) {
    const { price, days, delivery, message } = context.options
    if (days !== undefined && delivery !== undefined) throw usage('Say how long it takes once: --days or --delivery.')
    return {
      params: { id: context.args.thread },
      body: { price, ...compact({ message, estimated_delivery: delivery ?? inDays(days) }) },
    }
  },
  view({ thread_id, proposal }, io) {
    if (!proposal) return
    const { price, agent_price, expires_at } = proposal
    io.line(`${green('✓')} offered ${bold(`$${price}`)}   the buyer pays $${agent_price}   ${thread_id}`)
    io.line(`  open until ${expires_at}`)
  },
})

function inDays(days: number | undefined): string | undefined {
  return days === undefined ? undefined : `${days} day${days === 1 ? '' : 's'}`
}
