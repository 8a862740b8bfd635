import { defineCall } from '../../../src/cli/command.ts'
import * as z from '../../../src/cli/params.ts'
import { green } from '../../../src/text/text.ts'

export const command = defineCall({
  name: 'admin sdn add',
  summary: 'block a wallet that is not on the sanctions list',
  description: 'Needs the admin key of the instance. The action is logged with its reason.',
  args: z.object({ wallet: z.string().meta({ description: 'wallet address' }) }),
  options: z.object({ reason: z.string().meta({ description: 'why', value: 'text' }) }),
  examples: [
    'souk admin sdn add 0x00000000000000000000000000000000000000aa --reason "a court order"',
    'souk admin sdn add 0x00000000000000000000000000000000000000aa --reason "a court order" --json',
  ],
  asks: 'addSanction',
  asked: (context) => ({
    body: { wallet: context.args.wallet, reason: context.options.reason },
  }),
  view: ({ wallet, changed }, io) =>
    io.line(`${green('✓')} ${wallet} ${changed ? 'is refused from now on' : 'was refused before'}`),
})
