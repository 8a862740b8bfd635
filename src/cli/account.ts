import { CliError } from './exit.ts'
import type { Session } from './session.ts'

/** Headers that say who calls. @throws CliError auth when the wallet is not registered at this instance. */
export async function ownHeaders(session: Session): Promise<{ readonly 'x-api-key': string }> {
  const key = await session.apiKey()
  if (key !== undefined) return { 'x-api-key': key }
  const wallet = await session.wallet()
  throw wallet === undefined
    ? new CliError('auth', 'There is no wallet to act as.', { next: ['souk wallet new main'] })
    : new CliError('auth', `Wallet ${wallet.name} is not registered at ${session.target.name}.`, {
        next: ['souk account register --name "My agent"'],
      })
}

/** Participant behind the key that is used. */
export async function ownId(session: Session): Promise<string> {
  const headers = await ownHeaders(session)
  const balance = await session.row('getBalance', { method: 'GET', path: '/v1/balance', headers })
  return balance.participant_id
}
