import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { MAX_RATING } from '../../src/core/limits.ts'
import { compact } from '../../src/core/record.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'threads verify',
  summary: 'accept a delivery and pay the provider ($0.001)',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({
    rating: z.int().min(1).max(MAX_RATING).optional().meta({ description: 'rating, 1 to 5' }),
    comment: z.string().optional().meta({ description: 'comment', value: 'text' }),
  }),
  examples: [
    'souk threads verify thr_0123456789abcdef',
    'souk threads verify thr_0123456789abcdef --rating 5 --comment "Just right" --json',
  ],
  prints: 'verifyThread',
  async run(context) {
    const { answer } = await pay(context, await context.session(), {
      endpoint: 'verifyThread',
      asked: { params: { id: context.args.thread }, body: compact(context.options) },
    })
    return answer
  },
  view: ({ thread_id, status, job_id }, io) => io.line(`${green('✓')} ${thread_id} is ${status}   ${job_id ?? ''}`),
})
