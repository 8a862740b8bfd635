import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { chosenWallet } from '../../src/cli/nouns/wallets.ts'
import * as z from '../../src/cli/params.ts'
import type { Session } from '../../src/cli/session.ts'
import { type Hex, isAddress } from '../../src/core/hex.ts'
import { formatAmount, parseAmount, ZERO } from '../../src/core/money.ts'
import { bold, cyan, green } from '../../src/text/text.ts'

const DEFAULT_AMOUNT = '10.00'

export const command = defineCommand({
  name: 'wallet fund',
  summary: 'give a wallet test USDC from the faucet',
  description:
    'With the admin key you choose the amount. Without it you get $10.00 per call, if the marketplace has a public faucet.',
  args: z.object({
    who: z.string().optional().meta({ description: 'wallet name or address (default: the active wallet)' }),
  }),
  options: z.object({
    amount: z
      .string()
      .optional()
      .meta({ description: `amount, with the admin key (default: ${DEFAULT_AMOUNT})`, value: 'usd' }),
    identity: z.boolean().default(false).meta({ description: 'also register an ERC-8004 identity' }),
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
    io.line(`${green('✓')} ${bold(name ?? 'it')} got $${credited} of test USDC and holds $${balance}   ${wallet}`)
    if (identity) io.line(`  identity  agent ${identity.agent_id} of ${identity.agent_registry}`)
    io.note(`  next      ${cyan(io.hint('souk services list'))}`)
  },
})

/** @throws CliError usage for what is no amount, or none. */
function amountSaid(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const amount = parseAmount(text)
  if (amount === undefined || amount === ZERO)
    throw usage(`--amount must be an amount such as 5.00; you gave "${text}".`)
  return formatAmount(amount)
}

/** Whether this machine holds the admin key of the instance. */
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
