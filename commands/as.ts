import { defineCommand } from '../src/cli/command.ts'
import { chosenWallet } from '../src/cli/nouns/wallets.ts'
import * as z from '../src/cli/params.ts'
import { bold, cyan, green, shellLine } from '../src/text/text.ts'

export const command = defineCommand({
  name: 'as',
  heading: 'People',
  summary: 'run a command as another wallet: `souk as NAME COMMAND`',
  description:
    'Same as adding --as NAME. Without a command, shows the wallet in use. For a new name, creates a wallet with test money and an account, after confirmation; without a terminal add --yes. With real money nothing is created.',
  args: z.object({ name: z.text({ description: 'wallet to act as (default: the active one)' }) }),
  examples: ['souk as', 'souk as main', 'souk as main balance show', 'souk as ann account show --yes --json'],
  async run(context) {
    const session = await context.session()
    const { name, address } = chosenWallet(context.places, context.args.name ?? context.globals.as)
    const { target } = session
    return { name, address, remote: target.name, registered: (await session.apiKey()) !== undefined }
  },
  view({ name, address, remote, registered }, io) {
    io.line(`${green('✓')} ${bold(name)}   ${address}   ${registered ? '' : 'not '}registered at ${remote}`)
    io.note(`  next      ${cyan(io.hint(shellLine`souk balance show --as ${name}`))}`)
  },
})
