import { readFileSync } from 'node:fs'
import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { createWallet } from '../../src/client/wallets.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'wallet import',
  summary: 'add a wallet by its private key, from a file or stdin',
  description:
    'The key is never read from a flag. The wallet file has mode 0600. For an encrypted wallet use `souk wallet new --encrypt`.',
  args: z.object({ name: z.string().meta({ description: 'name of the remote' }) }),
  options: z.object({
    keyFile: z.string().default('-').meta({ description: 'file with the private key, - for stdin', value: 'file' }),
  }),
  examples: ['souk wallet import shop --key-file key.txt', 'souk wallet import shop --key-file key.txt --json'],
  async run({ args, options, places, io, globals, system }) {
    wouldDo(globals, `import a key as ${args.name}`)
    const text = options.keyFile === '-' ? await io.stdin() : readKey(options.keyFile)
    const createdAt = new Date(system.now()).toISOString()
    return createWallet(places, { name: args.name, createdAt, passphrase: undefined, privateKey: text.trim() })
  },
  view(wallet, io) {
    io.line(`${green('✓')} wallet ${bold(wallet.name)}   ${wallet.address}`)
    io.line(`  key       ${io.path(wallet.file)}   mode 0600`)
    io.note(`  next      ${cyan(io.hint(`souk wallet use ${wallet.name}`))}`)
  },
})

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw usage(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
