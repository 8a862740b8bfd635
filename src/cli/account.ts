import type { Places } from '../client/paths.ts'
import { CliError } from './exit.ts'
import type { Session, SessionHost } from './session.ts'

/**
 * Headers that authenticate on a job or conversation: the wallet's key, else the token of the purchase.
 * @throws CliError auth without either
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

/** Whether to read as operator: with the admin key and without `--as`. */
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

/** Participant id of the key. */
export async function ownId(session: Session): Promise<string> {
  return (await session.call('getBalance', {})).participant_id
}
