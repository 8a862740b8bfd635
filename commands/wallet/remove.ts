import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { getWallet, removeWallet } from '../../src/client/wallets.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'wallet remove',
  summary: 'delete the key of a wallet from this machine',
  description: 'Without a copy of the key, the money in the wallet is lost.',
  args: z.object({ name: z.string().meta({ description: 'wallet name' }) }),
  examples: ['souk wallet remove main --yes', 'souk wallet remove main --yes --json'],
  async run({ args, globals, places, io }) {
    const { name, address, active } = getWallet(places, args.name)
    wouldDo(globals, `delete the key of ${name} (${address})`)
    await io.confirm(`Delete the key of ${name} (${address})? Without a copy of it what it holds is lost.`)
    removeWallet(places, name)
    return { name, address, was_active: active }
  },
  view({ name, address, was_active: active }, io) {
    io.line(`${green('✓')} ${bold(name)} is gone   ${address}`)
    if (active) io.note(`  it was the active one; choose another: ${cyan(io.hint('souk wallet list'))}`)
  },
})
