import { z } from 'zod'
import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { chosenWallet } from '../../src/cli/nouns/wallets.ts'
import { formatAmount, parseAmount, ZERO } from '../../src/core/money.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

const DEFAULT_AMOUNT = '10.00'

export const command = defineCommand({
  name: 'wallet fund',
  summary: 'give a wallet test USDC from the local faucet',
  args: z.object({ name: z.string().optional().meta({ description: 'default: the active one' }) }),
  options: z.object({
    amount: z.string().default(DEFAULT_AMOUNT).meta({ description: 'how much', value: 'usd' }),
    identity: z.boolean().default(false).meta({ description: 'register an ERC-8004 identity for it, too' }),
  }),
  examples: ['souk wallet fund', 'souk wallet fund main --amount 5.00 --json', 'souk wallet fund --identity'],
  async run({ args, globals, options, places, session }) {
    const wallet = chosenWallet(places, args.name ?? globals.as)
    const amount = parseAmount(options.amount)
    if (amount === undefined || amount === ZERO)
      throw usage(`--amount must be an amount such as 5.00; you gave "${options.amount}".`)
    const funded = await (await session()).row('faucet', {
      method: 'POST',
      path: '/dashboard/api/admin/faucet',
      body: { wallet: wallet.address, amount: formatAmount(amount), ...(options.identity ? { identity: true } : {}) },
      admin: true,
    })
    const { balance, identity = null } = funded
    return { name: wallet.name, wallet: wallet.address, credited: formatAmount(amount), balance, identity }
  },
  view({ name, wallet, credited, balance, identity }, io) {
    io.line(`${green('✓')} ${bold(name)} got $${credited} of test USDC and holds $${balance}   ${wallet}`)
    if (identity) io.line(`  identity  agent ${identity.agent_id} of ${identity.agent_registry}`)
    io.note(`  next      ${cyan('souk services list')}`)
  },
})
