import { defineCall } from '../../../src/cli/command.ts'
import * as z from '../../../src/cli/params.ts'
import { green } from '../../../src/text/text.ts'

export const command = defineCall({
  name: 'admin webhooks replay',
  summary: 'resend a webhook delivery of any participant',
  description:
    'Needs the admin key of the instance. Sends the same bytes with a full set of retries. The action is logged.',
  args: z.object({ delivery: z.string().meta({ description: 'id of the delivery' }) }),
  examples: [
    'souk admin webhooks replay whd_0123456789abcdef --dry-run',
    'souk admin webhooks replay whd_0123456789abcdef --dry-run --json',
  ],
  asks: 'replayForOperator',
  asked: ({ args }) => ({ params: { id: args.delivery } }),
  view({ id, status, url }, io) {
    io.line(`${green('✓')} ${id} is ${status} again, to ${url}`)
  },
})
