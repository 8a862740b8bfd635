import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { createWallet } from '../../src/client/wallets.ts'
import { bold, cyan, green, yellow } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'wallet new',
  summary: 'create a wallet, or import a private key',
  description:
    'The key is saved in a file that only you can read. With a passphrase it is also encrypted (scrypt, AES-256-GCM). Secrets are never read from flags.',
  args: z.object({ name: z.string().default('main').meta({ description: 'name of the remote' }) }),
  options: z.object({
    encrypt: z.boolean().default(false).meta({ description: 'ask for a passphrase and encrypt the key' }),
    passphraseStdin: z.boolean().default(false).meta({ description: 'read the passphrase from stdin and encrypt' }),
    keyStdin: z.boolean().default(false).meta({ description: 'read an existing private key from stdin' }),
  }),
  examples: ['souk wallet new main', 'souk wallet new shop --json'],
  async run({ args, options, places, io, globals, system }) {
    const { encrypt, passphraseStdin, keyStdin } = options
    wouldDo(globals, `make wallet ${args.name} in ${io.path(places.config)}/wallets`)
    if (passphraseStdin && keyStdin) throw usage('stdin can hold the key or the passphrase, not both.')
    const piped = passphraseStdin || keyStdin ? (await io.stdin()).replace(/\r?\n$/, '') : undefined
    const asked = encrypt && !passphraseStdin ? await askTwice(io) : undefined
    const passphrase = passphraseStdin ? piped : asked
    const privateKey = keyStdin ? piped : undefined
    const createdAt = new Date(system.now()).toISOString()
    return createWallet(places, { name: args.name, createdAt, passphrase, privateKey })
  },
  view(wallet, io) {
    io.line(`${green('✓')} wallet ${bold(wallet.name)}   ${wallet.address}`)
    const how =
      wallet.protection === 'encrypted'
        ? 'encrypted under your passphrase'
        : yellow('not encrypted: whoever reads this file can spend')
    io.line(`  key       ${io.path(wallet.file)}   mode 0600, ${how}`)
    if (wallet.active) io.line('  active    yes')
    io.note(`  next      ${cyan(io.hint(`souk wallet fund ${wallet.name}`))}`)
  },
})

type Asking = { ask(question: string, options: { hidden?: boolean; flag: string }): Promise<string> }

async function askTwice(io: Asking): Promise<string> {
  const how = { hidden: true, flag: '--passphrase-stdin' }
  const first = await io.ask('Passphrase:', how)
  if ((await io.ask('Again:', how)) !== first) throw usage('The two passphrases differ; nothing was made.')
  return first
}
