import { keepAccount } from '../../client/secrets.ts'
import { LOCAL } from '../../client/settings.ts'
import { createBudget } from '../../client/spending/budget.ts'
import { createWallet, getWallet, listWallets, walletNames } from '../../client/wallets.ts'
import { AppError } from '../../core/error.ts'
import { nearest } from '../../text/text.ts'
import { usage } from '../exit.ts'
import { type Session, type SessionHost, wouldDo } from '../session.ts'
import { pay } from './paying.ts'

/** Prefix for the name of a demo user, if one of the user's own wallets already has that name. */
export const OF_DEMO = 'demo-'

/**
 * If the wallet does not exist, asks the user, then creates it, with test money and an account. If it exists, only says
 * how to select a demo user of the same name.
 * @throws CliError `usage` without a terminal, or `cancelled`; the marketplace's AppError for a refusal
 */
export async function becomeKnown(
  host: SessionHost,
  session: Session,
  { wallet: name, publicName = name }: { readonly wallet: string; readonly publicName?: string },
): Promise<void> {
  const { places, io, globals, system } = host
  const names = walletNames(places)
  if (names.includes(name)) return sayWhichIsMeant(host, session, name)
  const { target } = session
  // With real money, a typo must not create a wallet.
  if (target.network !== 'sandbox' && target.network !== 'devnet') return
  wouldDo(globals, `create wallet ${name}, fund it from the faucet and register it at ${target.name}`)
  const question = `There is no wallet ${name}. Create one, with test money and an account at ${target.name}?`
  if (!globals.yes && !io.canAsk) {
    const near = nearest(name, names)
    const facts = [...(near === undefined ? [] : [`did you mean ${near}?`]), 'add --yes to create and register it']
    throw usage(`There is no wallet ${name}, and there is no terminal to ask on.`, { facts, next: ['… --yes'] })
  }
  await io.confirm(question)
  const wallet = await createWallet(places, {
    name,
    createdAt: new Date(system.now()).toISOString(),
    active: names.length === 0,
  })
  io.say(`created wallet ${name}   ${wallet.address}`)
  const funded = await session.call('openFaucet', { body: { wallet: wallet.address } }).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error
    io.say(`! no test money: ${error.message}`)
  })
  if (!funded) return
  io.say(`received $${funded.credited} test USDC`)
  // The command is about something else: repeating it with the key of this payment would not find the account.
  const { answer } = await pay({ ...host, budget: { ...host.budget, send: createBudget().send } }, session, {
    endpoint: 'register',
    asked: { body: { name: publicName, type: 'both' } },
    idempotencyKey: crypto.randomUUID(),
  })
  keepAccount(places, target.instance, answer)
  io.say(`registered as ${publicName} (${answer.participant_id}) at ${target.name}`)
}

/** If a demo user has the same name as the user's wallet, says how to select the demo user. */
async function sayWhichIsMeant({ places, io }: SessionHost, { target }: Session, name: string): Promise<void> {
  const twin = listWallets(places).find((wallet) => wallet.name === OF_DEMO + name)
  if (!twin?.well_known || target.name !== LOCAL) return
  const { address } = getWallet(places, name)
  io.say(`--as ${name} is your own wallet ${address}; the ${name} of the demo is --as ${twin.name}`)
}
