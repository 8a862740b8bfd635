import { defineCommand } from '../../src/cli/command.ts'
import { holdingText, withHoldings } from '../../src/cli/nouns/wallets.ts'
import * as z from '../../src/cli/params.ts'
import { watchOptions } from '../../src/cli/run/watched.ts'
import { bold, cyan } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'balance show',
  summary: 'show the pre-funded balance, and what the wallet holds besides',
  isDefault: true,
  args: z.object({}),
  options: z.object(watchOptions),
  examples: ['souk balance', 'souk balance show --json'],
  async run(context) {
    const session = await context.session()
    const balance = await session.call('getBalance', {})
    const wallet = await session.wallet()
    if (wallet === undefined) return { ...balance, wallet: null }
    const [held] = await withHoldings(context, [wallet])
    return { ...balance, wallet: { name: wallet.name, address: wallet.address, holds: held?.holds ?? null } }
  },
  view({ available, held, participant_id: id, wallet }, io) {
    io.line(`${id}   available ${bold(`$${available}`)}   on hold $${held}`)
    if (wallet !== null) io.line(`wallet ${wallet.name}   holds ${bold(holdingText(wallet))}   ${wallet.address}`)
    const next = ['souk balance history', 'souk balance deposit 1.00', 'souk balance withdraw all']
    io.note(`  next: ${next.map((line) => cyan(io.hint(line))).join('    ')}`)
  },
})
