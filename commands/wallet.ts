import { readFileSync } from 'node:fs'
import { defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import { askTwice } from '../src/cli/io.ts'
import { chosenWallet, type Holding, holdingText, withHoldings } from '../src/cli/nouns/wallets.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { type Session, wouldDo } from '../src/cli/session.ts'
import {
  chooseWallet,
  createWallet,
  getWallet,
  listWallets,
  type NamedWallet,
  removeWallet,
} from '../src/client/wallets.ts'
import { type Hex, isAddress } from '../src/core/hex.ts'
import { formatAmount, parseAmount, ZERO } from '../src/core/money.ts'
import { bold, cyan, green, yellow } from '../src/text/text.ts'

const DEFAULT_AMOUNT = '10.00'

export const walletFund = defineCommand({
  name: 'wallet fund',
  summary: 'give a wallet test USDC from the faucet',
  description:
    'With the admin key you choose the amount. Without it you get $10.00 per call, if the marketplace has a public faucet.',
  args: z.object({ who: z.text({ description: 'wallet name or address (default: the active wallet)' }) }),
  options: z.object({
    amount: z.text({ description: `amount to give; needs the admin key (default: ${DEFAULT_AMOUNT})`, value: 'usd' }),
    identity: z.flag({ description: 'also register an ERC-8004 identity' }),
  }),
  examples: [
    'souk wallet fund',
    'souk wallet fund main --amount 5.00 --json',
    'souk wallet fund 0x00000000000000000000000000000000000000fa',
    'souk wallet fund --identity',
  ],
  async run({ args, globals, options, places, session }) {
    const who = args.who ?? globals.as
    const wallet = who !== undefined && isAddress(who) ? { name: null, address: who } : chosenWallet(places, who)
    const said = amountSaid(options.amount)
    const at = await session()
    const isAdmin = said !== undefined || options.identity || (await mayChoose(at))
    const funded = isAdmin
      ? await fromOperator(at, { wallet: wallet.address, amount: said ?? DEFAULT_AMOUNT, identity: options.identity })
      : await at.call('openFaucet', { body: { wallet: wallet.address } })
    const { credited, balance } = funded
    const identity = 'identity' in funded ? (funded.identity ?? null) : null
    return { name: wallet.name, wallet: wallet.address, credited, balance, identity }
  },
  view({ name, wallet, credited, balance, identity }, io) {
    io.line(`${green('✓')} ${bold(name ?? 'it')} received $${credited} test USDC; balance $${balance}   ${wallet}`)
    if (identity) io.line(`  identity  agent ${identity.agent_id} of ${identity.agent_registry}`)
    io.note(`  next      ${cyan(io.hint('souk services list'))}`)
  },
})

/** @throws CliError `usage` for an invalid or zero amount */
function amountSaid(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const amount = parseAmount(text)
  if (amount === undefined || amount === ZERO)
    throw usage(`--amount must be an amount such as 5.00; you gave "${text}".`)
  return formatAmount(amount)
}

/** Whether this machine has the instance's admin key. */
async function mayChoose(session: Session): Promise<boolean> {
  return session.adminHeaders().then(
    () => true,
    () => false,
  )
}

type Ordered = { readonly wallet: Hex; readonly amount: string; readonly identity: boolean }

function fromOperator(session: Session, { wallet, amount, identity }: Ordered) {
  return session.call('faucet', { body: { wallet, amount, ...(identity ? { identity: true } : {}) } })
}

export const walletImport = defineCommand({
  name: 'wallet import',
  summary: 'add a wallet by its private key, from a file or stdin',
  description:
    'The key is never read from a flag. The wallet file has mode 0600. For an encrypted wallet use `souk wallet new --encrypt`.',
  args: z.object({ name: z.string().meta({ description: 'name of the wallet' }) }),
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

const columns: readonly Column<NamedWallet & Holding>[] = [
  { title: 'NAME', value: ({ name, active }) => `${active ? '● ' : '  '}${name}`, plain: ({ name }) => name },
  { title: 'ADDRESS', value: ({ address }) => address },
  { title: 'HOLDS', value: ({ holds }) => (holds === null ? null : `$${holds}`), align: 'right' },
  { title: 'KEY', value: ({ protection }) => protection },
  { title: 'ACTIVE', value: ({ active }) => (active ? 'yes' : 'no'), drop: 1 },
  { title: 'CREATED', value: ({ created_at }) => created_at, drop: 2 },
]

export const walletList = defineCommand({
  name: 'wallet list',
  summary: 'list the wallets of this machine and what they hold',
  options: z.object({}),
  examples: ['souk wallet list', 'souk wallet list --json'],
  run: async (context) => {
    const wallets = await withHoldings(context, listWallets(context.places))
    return { total: wallets.length, wallets }
  },
  rows: ({ wallets }) => wallets,
  columns,
  view({ wallets }, io) {
    printRows(io, columns, wallets)
    if (wallets.length === 0) io.note(`there is none yet: ${cyan(io.hint('souk wallet new main'))}`)
  },
})

export const walletNew = defineCommand({
  name: 'wallet new',
  summary: 'create a wallet, or import a private key',
  description:
    'The key is saved in a file that only you can read. With a passphrase it is also encrypted (scrypt, AES-256-GCM). Secrets are never read from flags.',
  args: z.object({ name: z.string().default('main').meta({ description: 'name of the wallet' }) }),
  options: z.object({
    encrypt: z.flag({ description: 'ask for a passphrase and encrypt the key' }),
    passphraseStdin: z.flag({ description: 'read the passphrase from stdin and encrypt' }),
    keyStdin: z.flag({ description: 'read an existing private key from stdin' }),
  }),
  examples: ['souk wallet new main', 'souk wallet new shop --json'],
  async run({ args, options, places, io, globals, system }) {
    const { encrypt, passphraseStdin, keyStdin } = options
    wouldDo(globals, `create wallet ${args.name} in ${io.path(places.config)}/wallets`)
    if (passphraseStdin && keyStdin) throw usage('stdin can hold the key or the passphrase, not both.')
    const piped = passphraseStdin || keyStdin ? (await io.stdin()).replace(/\r?\n$/, '') : undefined
    const asked = encrypt && !passphraseStdin ? await askTwice(io, '--passphrase-stdin') : undefined
    const passphrase = passphraseStdin ? piped : asked
    const privateKey = keyStdin ? piped : undefined
    const createdAt = new Date(system.now()).toISOString()
    return createWallet(places, { name: args.name, createdAt, passphrase, privateKey })
  },
  view(wallet, io) {
    io.line(`${green('✓')} wallet ${bold(wallet.name)}   ${wallet.address}`)
    const how =
      wallet.protection === 'encrypted'
        ? 'encrypted with your passphrase'
        : yellow('not encrypted: anyone who reads this file can spend')
    io.line(`  key       ${io.path(wallet.file)}   mode 0600, ${how}`)
    if (wallet.active) io.line('  active    yes')
    io.note(`  next      ${cyan(io.hint(`souk wallet fund ${wallet.name}`))}`)
  },
})

export const walletRemove = defineCommand({
  name: 'wallet remove',
  summary: 'delete the key of a wallet from this machine',
  description: 'Without a copy of the key, the money in the wallet is lost.',
  args: z.object({ name: z.string().meta({ description: 'wallet name' }) }),
  examples: ['souk wallet remove main --yes', 'souk wallet remove main --yes --json'],
  async run({ args, globals, places, io }) {
    const { name, address, active } = getWallet(places, args.name)
    wouldDo(globals, `delete the key of ${name} (${address})`)
    await io.confirm(`Delete the key of ${name} (${address})? Without a copy of the key, its money is lost.`)
    removeWallet(places, name)
    return { name, address, was_active: active }
  },
  view({ name, address, was_active: active }, io) {
    io.line(`${green('✓')} ${bold(name)} is deleted   ${address}`)
    if (active) io.note(`  it was the active wallet; choose another: ${cyan(io.hint('souk wallet list'))}`)
  },
})

export const walletShow = defineCommand({
  name: 'wallet show',
  summary: 'show one wallet and what it holds; the key itself is never shown',
  args: z.object({ name: z.text({ description: 'wallet name (default: the active one)' }) }),
  examples: ['souk wallet show', 'souk wallet show main --json'],
  async run(context) {
    const { args, globals, places } = context
    const [wallet] = await withHoldings(context, [chosenWallet(places, args.name ?? globals.as)])
    return wallet as NonNullable<typeof wallet> // one for one
  },
  view(wallet, io) {
    io.line(`${bold(wallet.name)}   ${wallet.address}   ${wallet.active ? 'active' : 'not active'}`)
    io.line(`  holds     ${holdingText(wallet)}   of USDC, not counting the balance`)
    io.line(`  key       ${io.path(wallet.file)}   ${wallet.protection}`)
    io.line(`  created   ${wallet.created_at}`)
  },
})

export const walletUse = defineCommand({
  name: 'wallet use',
  summary: 'set the default wallet',
  args: z.object({ name: z.string().meta({ description: 'wallet name' }) }),
  examples: ['souk wallet use main', 'souk wallet use main --json'],
  async run({ args, globals, places }) {
    wouldDo(globals, `use ${args.name} by default`)
    return chooseWallet(places, args.name)
  },
  view: ({ name, address }, io) => io.line(`${green('✓')} using ${bold(name)}   ${address}`),
})
