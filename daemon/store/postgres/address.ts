import { StoreMisuse } from '../errors.ts'

export type PgHost = { readonly host: string; readonly port: number }

/** Encryption of connections, as libpq names it; `verify-full` also checks the server's certificate and name. */
export type SslMode = 'disable' | 'prefer' | 'require' | 'verify-full'

/** Where a PostgreSQL store is. */
export type PgAddress = {
  /** Candidates; the one that is not a standby is used. */
  readonly hosts: readonly PgHost[]
  readonly user: string
  readonly password: string
  readonly database: string
  /** Schema that has the tables (default: `souk`). */
  readonly schema: string
  readonly sslmode: SslMode
}

const DEFAULT_PORT = 5432
const DEFAULT_SCHEMA = 'souk'
const DEFAULT_USER = 'souk'
const sslModes: readonly string[] = ['disable', 'prefer', 'require', 'verify-full'] satisfies SslMode[]
const URL_FORM = /^postgres(?:ql)?:\/\/(?:([^@/?]*)@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/
const FORM = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE'
const SCHEMA_FORM = /^[a-z_][a-z0-9_]{0,40}$/
const OPTIONS: ReadonlySet<string> = new Set(['host', 'port', 'schema', 'sslmode'])

/** Reads `postgres://user:password@host:port,host:port/database?schema=…`. @throws StoreMisuse without the secret */
export function parsePgAddress(text: string): PgAddress {
  const parts = URL_FORM.exec(text)
  if (parts === null) throw new StoreMisuse(`the store is not an address of the form ${FORM}`)
  const [, login = '', hostList = '', path = '', query = ''] = parts
  const [user = '', ...password] = login.split(':')
  const options = new URLSearchParams(query)
  const unknown = [...options.keys()].find((name) => !OPTIONS.has(name))
  if (unknown !== undefined)
    throw new StoreMisuse(`the store address has the unknown option ${unknown} (known: ${[...OPTIONS].join(', ')})`)
  const name = decodeURIComponent(user) || DEFAULT_USER
  return {
    hosts: hostsOf(options.get('host') ?? hostList, Number(options.get('port') ?? DEFAULT_PORT)),
    user: name,
    password: decodeURIComponent(password.join(':')),
    database: decodeURIComponent(path) || name,
    schema: schemaOf(options.get('schema') ?? DEFAULT_SCHEMA),
    sslmode: sslModeOf(options.get('sslmode') ?? 'prefer'),
  }
}

function hostsOf(list: string, port: number): PgHost[] {
  return (list || 'localhost').split(',').map((one) => {
    const [, host = '', own] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(one) ?? []
    const at = { host: decodeURIComponent(host).replace(/^\[|\]$/g, ''), port: own === undefined ? port : Number(own) }
    if (at.host === '' || !(at.port > 0)) throw new StoreMisuse('the store address has an invalid host or port')
    return at
  })
}

function schemaOf(schema: string): string {
  if (!SCHEMA_FORM.test(schema))
    throw new StoreMisuse('schema of the store address: use lower-case letters, digits and _, at most 40')
  return schema
}

function sslModeOf(mode: string): SslMode {
  if (!sslModes.includes(mode)) throw new StoreMisuse(`sslmode of the store address: use one of ${sslModes.join(', ')}`)
  return mode as SslMode
}

/** The address without its password, for texts. */
export function shownAddress({ hosts, user, database, schema }: PgAddress): string {
  const list = hosts.map(({ host, port }) => (host.startsWith('/') ? host : `${host}:${port}`)).join(',')
  const at = list.startsWith('/') ? `/${database}?host=${list}` : `${list}/${database}`
  return `postgres://${user}@${at}${schema === DEFAULT_SCHEMA ? '' : `${at.includes('?') ? '&' : '?'}schema=${schema}`}`
}
