import type { Places } from '../client/paths.ts'
import type { Session } from './session.ts'

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
  return token === undefined ? session.ownHeaders() : { authorization: `Bearer ${token}` }
}

/** Participant behind the key that is used. */
export async function ownId(session: Session): Promise<string> {
  return (await session.call('getBalance', {})).participant_id
}
