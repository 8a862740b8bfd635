import { defineCommand } from '../../../src/cli/command.ts'
import * as z from '../../../src/cli/params.ts'
import { green } from '../../../src/text/text.ts'

export const command = defineCommand({
  name: 'admin sdn remove',
  summary: 'unblock a wallet that was added by hand',
  description: 'Needs the admin key of the instance. Withheld payouts are paid with the next run.',
  args: z.object({ wallet: z.string().meta({ description: 'wallet address' }) }),
  options: z.object({}),
  examples: [
    'souk admin sdn remove 0x00000000000000000000000000000000000000aa --dry-run',
    'souk admin sdn remove 0x00000000000000000000000000000000000000aa --dry-run --json',
  ],
  async run(context) {
    return (await context.session()).call('removeSanction', { params: { wallet: context.args.wallet } })
  },
  view: ({ wallet, sanctioned }, io) =>
    io.line(`${green('✓')} ${wallet} ${sanctioned ? 'is still on the list' : 'is clear'}`),
})
