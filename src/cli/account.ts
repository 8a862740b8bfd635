import type { Places } from '../client/paths.ts'
import { CliError } from './exit.ts'
import type { Session, SessionHost } from './session.ts'

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

/**
 * Whether a command reads for the operator or for one's own account: the operator where nobody is named by `--as` and
 * the admin key is at hand.
 */
export async function readsAsOperator({ globals }: Pick<SessionHost, 'globals'>, session: Session): Promise<boolean> {
  if (globals.as !== undefined) return false
  return session.adminHeaders().then(
    () => true,
    (error) => {
      if (error instanceof CliError && error.exit === 'auth') return false
      throw error
    },
  )
}

/** Participant behind the key that is used. */
export async function ownId(session: Session): Promise<string> {
  return (await session.call('getBalance', {})).participant_id
}
