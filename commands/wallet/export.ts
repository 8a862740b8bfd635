import { existsSync } from 'node:fs'
import { defineCommand } from '../../src/cli/command.ts'
import { CliError, usage } from '../../src/cli/exit.ts'
import { chosenWallet } from '../../src/cli/nouns/wallets.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { unlock } from '../../src/cli/wallet/paying.ts'
import { writePrivate } from '../../src/client/files.ts'
import { bold, cyan, green, shellLine, yellow } from '../../src/text/text.ts'

const STDOUT = '-'

export const command = defineCommand({
  name: 'wallet export',
  summary: 'write the private key of a wallet to a file, for another program',
  description:
    'The file is readable by you only. Anyone with the key can spend the money of the wallet, so this asks for confirmation. The key is never printed on a terminal; for a pipe use - and --yes.',
  args: z.object({
    file: z.string().meta({ description: 'file to write; - for stdout, needs --yes' }),
    name: z.text({ description: 'wallet name (default: the active one)' }),
  }),
  examples: ['souk wallet export ./main.key --yes', 'souk wallet export ./copy.key main --yes --json'],
  async run(context) {
    const { args, globals, io, places } = context
    const wallet = chosenWallet(places, args.name ?? globals.as)
    const isPiped = args.file === STDOUT
    if (isPiped && io.isTty) throw usage('A key is not shown on a terminal: give a file, or use a pipe.')
    if (isPiped && !globals.yes) {
      throw usage(`Writing the key of ${wallet.name} into a pipe needs --yes.`, { next: ['… --yes'] })
    }
    if (!isPiped && existsSync(args.file)) {
      throw new CliError('conflict', `${io.path(args.file)} already exists and is not overwritten.`)
    }
    wouldDo(globals, `write the private key of ${wallet.name} to ${args.file}`)
    await io.confirm(`Anyone with the key of ${wallet.name} (${wallet.address}) can spend its money. Write it?`)
    const key = await unlock(context, wallet)
    if (!isPiped) writePrivate(args.file, `${key}\n`)
    return { name: wallet.name, address: wallet.address, file: isPiped ? null : args.file, ...(isPiped ? { key } : {}) }
  },
  view({ name, address, file, key }, io) {
    if (key !== undefined) return io.line(key)
    io.line(`${green('✓')} the key of ${bold(name)}   ${address}   is in ${io.path(file ?? '')}`)
    io.line(`  ${yellow('not encrypted: anyone who reads this file can spend')}`)
    io.note(`  next      ${cyan(io.hint(shellLine`souk wallet import copy --key-file ${file ?? ''}`))}`)
  },
})
