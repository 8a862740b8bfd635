import { defineCall } from '../../../src/cli/command.ts'
import * as z from '../../../src/cli/params.ts'
import { green } from '../../../src/text/text.ts'

export const command = defineCall({
  name: 'admin sdn remove',
  summary: 'unblock a wallet that was added by hand',
  description: 'Needs the admin key of the instance. Withheld payouts are paid with the next run.',
  args: z.object({ wallet: z.string().meta({ description: 'wallet address' }) }),
  examples: [
    'souk admin sdn remove 0x00000000000000000000000000000000000000aa --dry-run',
    'souk admin sdn remove 0x00000000000000000000000000000000000000aa --dry-run --json',
  ],
  asks: 'removeSanction',
  asked: ({ args }) => ({ params: { wallet: args.wallet } }),
  view: ({ wallet, sanctioned }, io) =>
    io.line(`${green('✓')} ${wallet} ${sanctioned ? 'is still on the list' : 'is clear'}`),
})
