import type { Places } from '../../client/settings.ts'
import { currentWallet, type NamedWallet } from '../../client/wallets.ts'
import { AppError } from '../../core/error.ts'
import { CliError } from '../exit.ts'
import type { Session } from '../session.ts'

export type Holding = { readonly holds: string | null }

/** Adds the money that each wallet holds at the marketplace; null if the marketplace cannot be asked. */
export async function withHoldings(
  { session }: { readonly session: () => Promise<Session> },
  wallets: readonly NamedWallet[],
): Promise<readonly (NamedWallet & Holding)[]> {
  const held = new Map<string, string>()
  try {
    const at = await session()
    for (let from = 0; from < wallets.length; from += WALLETS_AT_ONCE) {
      const of = wallets.slice(from, from + WALLETS_AT_ONCE).map(({ address }) => address)
      const found = await at.call('getHoldings', { query: { of: of.join() } })
      for (const { wallet, usdc } of found.wallets) held.set(wallet, usdc)
    }
  } catch (error) {
    if (!(error instanceof CliError) && !(error instanceof AppError)) throw error
  }
  return wallets.map((wallet) => ({ ...wallet, holds: held.get(wallet.address) ?? null }))
}

/** Wallets per request. */
const WALLETS_AT_ONCE = 50

export function holdingText({ holds }: Holding): string {
  return holds === null ? 'not known: no marketplace answers' : `$${holds}`
}

/** The wallet with this name; without a name, the active wallet. @throws CliError not_found */
export function chosenWallet(places: Places, name: string | undefined): NamedWallet {
  const wallet = currentWallet(places, name)
  if (wallet) return wallet
  throw new CliError('not_found', 'There is no active wallet.', {
    next: ['souk wallet new main', 'souk wallet use NAME'],
  })
}
