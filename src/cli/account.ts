import type { Places } from '../client/paths.ts'
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

/**
 * Headers for one job or conversation: the wallet's key, or, where it bought without an account, the token that came
 * with the purchase. @throws CliError auth when there is neither.
 */
export async function headersAt(
  { places }: { readonly places: Places },
  session: Session,
  id: string,
): Promise<Readonly<Record<string, string>>> {
  const { jobTokenOf } = await import('../client/secrets.ts')
  const isKnown = (await session.apiKey()) !== undefined
  const token = isKnown ? undefined : jobTokenOf(places, session.target.instance, id)
  return token === undefined ? ownHeaders(session) : { authorization: `Bearer ${token}` }
}

/** Participant behind the key that is used. */
export async function ownId(session: Session): Promise<string> {
  const headers = await ownHeaders(session)
  const balance = await session.row('getBalance', { method: 'GET', path: '/v1/balance', headers })
  return balance.participant_id
}
