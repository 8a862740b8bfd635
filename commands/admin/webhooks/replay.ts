import { defineCommand } from '../../../src/cli/command.ts'
import * as z from '../../../src/cli/params.ts'
import { green } from '../../../src/text/text.ts'

export const command = defineCommand({
  name: 'admin webhooks replay',
  summary: 'send a message to an endpoint of somebody again',
  description: 'Needs the admin key of the instance. The same bytes are sent, with all tries anew; it is logged.',
  args: z.object({ delivery: z.string().meta({ description: 'id of the delivery' }) }),
  options: z.object({}),
  examples: [
    'souk admin webhooks replay whd_0123456789abcdef --dry-run',
    'souk admin webhooks replay whd_0123456789abcdef --dry-run --json',
  ],
  async run(context) {
    return (await context.session()).call('replayForOperator', { params: { id: context.args.delivery } })
  },
  view({ id, status, url }, io) {
    io.line(`${green('✓')} ${id} is ${status} again, to ${url}`)
  },
})
