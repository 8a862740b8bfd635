import { CliError } from '../cli/exit.ts'
import type { Session, SessionHost } from '../cli/session.ts'
import { pay } from '../cli/wallet/paying.ts'
import { becomeKnown } from '../cli/wallet/persona.ts'
import { keepAccount } from '../client/secrets.ts'
import { currentWallet, walletNames } from '../client/wallets.ts'
import { AppError } from '../core/error.ts'

const TEST_MONEY: readonly string[] = ['sandbox', 'devnet']
const FIRST_WALLET = 'main'

/** The payment network twice: as saved on this machine, and as the instance reports it. */
export async function modesOf(session: Session): Promise<readonly string[]> {
  const { chain } = await session.call('getHealth', {})
  return [session.target.network, chain.mode]
}

export function isTestMoney(modes: readonly string[]): boolean {
  return modes.every((mode) => TEST_MONEY.includes(mode))
}

/** Which parts of a seller's set-up exist already: wallet and account. */
export type SellerStanding = Awaited<ReturnType<typeof standingOf>>

type SellerHost = SessionHost & { readonly options: { readonly name?: string | undefined } }

export async function standingOf({ places, globals }: SessionHost, session: Session) {
  const name = globals.as ?? currentWallet(places)?.name ?? FIRST_WALLET
  if (!walletNames(places).includes(name)) return { wallet: undefined, isRegistered: false, name }
  return { wallet: currentWallet(places, name), isRegistered: (await session.apiKey()) !== undefined, name }
}

/** Creates wallet and account with test money if they are missing. @throws CliError `auth` if the money is real */
export async function becomeSeller(host: SellerHost, session: Session, modes: readonly string[]): Promise<void> {
  const { wallet, isRegistered, name } = await standingOf(host, session)
  if (isRegistered) return
  const publicName = host.options.name ?? name
  if (!isTestMoney(modes)) {
    const missing = wallet === undefined ? `Wallet ${name} does not exist.` : `Wallet ${name} is not registered here.`
    throw new CliError('auth', missing, {
      facts: ['with real money, wallets and accounts are not created for you'],
      next: [...(wallet === undefined ? [`souk wallet new ${name}`] : []), 'souk account register --role provider'],
    })
  }
  if (wallet === undefined) return becomeKnown(host, session, { wallet: name, publicName })
  // Registering costs one cent. If the faucet refuses to pay it, the wallet may still have money, so continue.
  await session.call('openFaucet', { body: { wallet: wallet.address } }).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error
  })
  const { answer } = await pay(host, session, {
    endpoint: 'register',
    asked: { body: { name: publicName, type: 'provider' } },
  })
  keepAccount(host.places, session.target.instance, answer)
  host.io.say(`registered as ${publicName} (${answer.participant_id}) at ${session.target.name}`)
}
