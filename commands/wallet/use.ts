import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { chooseWallet } from '../../src/client/wallets.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'wallet use',
  summary: 'set the default wallet',
  args: z.object({ name: z.string().meta({ description: 'wallet name' }) }),
  examples: ['souk wallet use main', 'souk wallet use main --json'],
  async run({ args, globals, places }) {
    wouldDo(globals, `act as ${args.name} from now on`)
    return chooseWallet(places, args.name)
  },
  view: ({ name, address }, io) => io.line(`${green('✓')} acting as ${bold(name)}   ${address}`),
})
