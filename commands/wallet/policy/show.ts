import { defineCommand } from '../../../src/cli/command.ts'
import { noPolicy, showPolicy } from '../../../src/cli/nouns/policy.ts'
import { chosenWallet } from '../../../src/cli/nouns/wallets.ts'
import * as z from '../../../src/cli/params.ts'
import { policyOf } from '../../../src/client/spending/policy.ts'
import { bold, cyan } from '../../../src/text/text.ts'

export const command = defineCommand({
  name: 'wallet policy show',
  isDefault: true,
  summary: 'show the spending limits of a wallet',
  args: z.object({ name: z.string().optional().meta({ description: 'wallet name (default: the active one)' }) }),
  examples: ['souk wallet policy show', 'souk wallet policy show main --json'],
  async run({ args, globals, places }) {
    const { name, address } = chosenWallet(places, args.name ?? globals.as)
    const policy = policyOf(places, address)
    return { wallet: name, address, is_set: policy !== undefined, policy: policy ?? noPolicy }
  },
  view({ wallet, address, is_set: isSet, policy }, io) {
    io.line(`${bold(wallet)}   ${address}   ${isSet ? 'has a spend policy' : 'has no spend policy'}`)
    showPolicy(io, policy)
    io.note(`  a day is any 24 hours by the clock of this machine; ${cyan('--max-price')} bounds each command besides`)
    io.note(`  next: ${cyan(io.hint(isSet ? 'souk wallet spend' : 'souk wallet policy set --per-day 5.00'))}`)
  },
})
