import { AppError } from '../../core/error.ts'
import { CliError } from '../exit.ts'
import type { Session } from '../session.ts'

export type CredentialCheck = {
  readonly id: 'admin key' | 'api key'
  readonly status: 'ok' | 'none' | 'problem'
  readonly detail: string
}

/** Asks an instance whether it accepts saved credentials. */
export async function checkCredentials(session: Session): Promise<readonly CredentialCheck[]> {
  return [
    await credential('admin key', () => askAsAdmin(session)),
    await credential('api key', () => askAsSelf(session)),
  ]
}

/** @returns `taken` if the instance accepts the admin key; undefined without an accepted one */
async function askAsAdmin(session: Session): Promise<string | undefined> {
  try {
    await session.call('getPlatformStatus', {})
    return 'taken'
  } catch (error) {
    if (error instanceof CliError && error.exit === 'auth') return undefined
    throw error
  }
}

async function askAsSelf(session: Session): Promise<string | undefined> {
  const key = await session.apiKey()
  if (key === undefined) return undefined
  const headers = { 'x-api-key': key }
  return (await session.call('getBalance', { headers })).participant_id
}

async function credential(id: CredentialCheck['id'], ask: () => Promise<string | undefined>): Promise<CredentialCheck> {
  try {
    const detail = await ask()
    return detail === undefined ? { id, status: 'none', detail: 'none is saved' } : { id, status: 'ok', detail }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { id, status: 'problem', detail: error.message }
  }
}
