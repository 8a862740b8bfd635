import { defineCall } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { formatAmount, parseAmount, ZERO } from '../../src/core/money.ts'
import { compact } from '../../src/core/record.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCall({
  name: 'admin adjust',
  summary: 'move money between a balance and the operator',
  description: 'Needs the admin key of the instance. With the same --idempotency-key it is applied only once.',
  args: z.object({
    participant: z.string().meta({ description: 'id of the participant' }),
    amount: z.string().meta({ description: 'amount in USDC, such as 1.50' }),
  }),
  options: z.object({
    take: z.boolean().default(false).meta({ description: 'take from the balance (default: add to it)' }),
    reason: z.string().meta({ description: 'reason, for the log', value: 'text' }),
    settles: z
      .string()
      .optional()
      .meta({ description: 'id of the unserved period it compensates, from `souk attention`', value: 'id' }),
  }),
  examples: [
    'souk admin adjust p_0123456789abcdef 0.01 --take --reason "chargeback 17" --dry-run',
    'souk admin adjust p_0123456789abcdef 0.01 --reason goodwill --dry-run --json',
  ],
  asks: 'adjustBalance',
  asked(context) {
    const { participant, amount: text } = context.args
    const { take, reason, settles } = context.options
    const amount = parseAmount(text)
    if (amount === undefined || amount === ZERO) throw usage(`The amount must be like 1.50; you gave "${text}".`)
    return {
      params: { id: participant },
      body: { amount: formatAmount(take ? -amount : amount), reason, ...compact({ settles }) },
      headers: { 'idempotency-key': context.globals.idempotencyKey ?? crypto.randomUUID() },
    }
  },
  view: ({ adjusted, balance }, io) => io.line(`${green('✓')} $${adjusted}; the balance is $${balance}`),
})
