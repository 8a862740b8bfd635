import { defineCommand } from '../../src/cli/command.ts'
import { chosenWallet, holdingText, withHoldings } from '../../src/cli/nouns/wallets.ts'
import * as z from '../../src/cli/params.ts'
import { bold } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'wallet show',
  summary: 'show one wallet and what it holds; the key itself is never shown',
  args: z.object({ name: z.string().optional().meta({ description: 'wallet name (default: the active one)' }) }),
  examples: ['souk wallet show', 'souk wallet show main --json'],
  async run(context) {
    const { args, globals, places } = context
    const [wallet] = await withHoldings(context, [chosenWallet(places, args.name ?? globals.as)])
    return wallet as NonNullable<typeof wallet> // one for one
  },
  view(wallet, io) {
    io.line(`${bold(wallet.name)}   ${wallet.address}   ${wallet.active ? 'active' : 'not active'}`)
    io.line(`  holds     ${holdingText(wallet)}   of USDC, outside of the balance`)
    io.line(`  key       ${io.path(wallet.file)}   ${wallet.protection}`)
    io.line(`  created   ${wallet.created_at}`)
  },
})
