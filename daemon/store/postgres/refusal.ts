import { AppError, type ErrorCode } from '../../../src/core/error.ts'
import { StoreMisuse } from '../errors.ts'
import { type PgAddress, parsePgAddress, shownAddress } from './address.ts'
import { StoreUnreachable } from './connection.ts'

/* Why a database refuses a daemon, and what its operator can do. */

type Remedy = { readonly code: ErrorCode; readonly words: (address: PgAddress) => string }

const wrong = (words: Remedy['words']): Remedy => ({ code: 'invalid_request', words })
const away = (words: Remedy['words']): Remedy => ({ code: 'unavailable', words })

/** By SQLSTATE, by the system's error code, or by the code of a `StoreUnreachable`. */
const remedies: Readonly<Record<string, Remedy>> = {
  '28P01': wrong(
    ({ user }) =>
      `The password of ${user} is wrong. Correct the address, or set the password: sudo -u postgres psql -c '\\password ${user}'`,
  ),
  '28000': wrong(
    ({ user }) =>
      `The server does not let ${user} in. Create the user (sudo -u postgres createuser --pwprompt ${user}), or allow it in pg_hba.conf.`,
  ),
  '3D000': wrong(
    ({ user, database }) =>
      `There is no such database. Create it: sudo -u postgres createdb --owner ${user} ${database}`,
  ),
  '42501': wrong(
    ({ user, database, schema }) =>
      `${user} may not create or use the schema ${schema}. Grant it: sudo -u postgres psql ${database} -c 'grant create on database ${database} to ${user}', or name a schema of that user with ?schema=NAME.`,
  ),
  '53300': away(() => 'The server has no connection left. Raise its max_connections: a daemon needs up to 8.'),
  OLD: wrong(() => 'Upgrade the server, or name a newer one.'),
  ENCODING: wrong(
    ({ user, database }) =>
      `Create a database in UTF8: sudo -u postgres createdb --encoding UTF8 --template template0 --owner ${user} ${database}`,
  ),
  STANDBY: away(() => 'Name the primary too (HOST:PORT,HOST:PORT), or promote a standby.'),
  ENOTFOUND: away(() => 'The host name is unknown: correct the address.'),
  EAI_AGAIN: away(() => 'The host name cannot be looked up now.'),
}

const ABSENT = away(
  () =>
    'Start the server (systemctl start postgresql), or install one: on Debian apt-get install postgresql, then createuser and createdb. Without --store and SOUK_STORE, the marketplace keeps its data in files.',
)

/** Reads the address of `--store` or `SOUK_STORE`. @throws AppError `invalid_request` without the password */
export function addressOfStore(text: string): PgAddress {
  try {
    return parsePgAddress(text)
  } catch (error) {
    if (!(error instanceof StoreMisuse)) throw error
    throw new AppError('invalid_request', `--store or SOUK_STORE is invalid: ${error.message}.`)
  }
}

/** The error with the address and a way out, if the database refused; otherwise the error itself. */
export function refusalOf(error: unknown, address: PgAddress): unknown {
  const isAnswered = error instanceof Error && 'severity' in error
  if (!(error instanceof StoreUnreachable || isAnswered)) return error
  const cause = error instanceof StoreUnreachable ? (error.cause ?? error) : error
  const known = remedies[String((cause as { readonly code?: unknown }).code)]
  if (known === undefined && isAnswered) return error
  const { code, words } = known ?? ABSENT
  const message = `The store ${shownAddress(address)} does not open (${error.message}). ${words(address)}`
  return new AppError(code, message, { cause: error })
}
