import type { Places } from '../client/settings.ts'
import { CliError } from './exit.ts'
import type { Session, SessionHost } from './session.ts'

/**
 * Credentials for a job or conversation: the wallet's API key, or else the token of the purchase.
 * @throws CliError `auth` if there is neither
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

/** True if there is an admin key and no `--as`: then commands read with the rights of the operator. */
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

/** Id of the participant to which the wallet's API key belongs. */
export async function ownId(session: Session): Promise<string> {
  return (await session.call('getBalance', {})).participant_id
}
