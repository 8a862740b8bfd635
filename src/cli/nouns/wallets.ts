import type { Places } from '../../client/paths.ts'
import { currentWallet, type NamedWallet } from '../../client/wallets.ts'
import { CliError } from '../exit.ts'

/** The named wallet, else the active one. @throws CliError not_found when there is none. */
export function chosenWallet(places: Places, name: string | undefined): NamedWallet {
  const wallet = currentWallet(places, name)
  if (wallet) return wallet
  throw new CliError('not_found', 'There is no active wallet.', {
    next: ['souk wallet new main', 'souk wallet use NAME'],
  })
}
