import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type postgres from 'postgres'
import type { PgAddress, PgHost } from './address.ts'

export type PgValue = string | number | boolean | Uint8Array | null
export type PgRow = Readonly<Record<string, unknown>>

/** One session of the server. It is never reconnected: what ran in it would silently run outside its transaction. */
export type Connection = {
  readonly host: PgHost
  /** Address of this machine, as the server's network knows it. */
  readonly ownAddress: string
  /** Runs a prepared statement. Statements are sent in the order of the calls, without waiting for each other. */
  query(text: string, values?: readonly PgValue[]): Promise<readonly PgRow[]>
  /** Runs statements without values. @returns the rows of each */
  script(text: string): Promise<readonly (readonly PgRow[])[]>
  /** Ends a transaction. @throws ConnectionLost, Error when the server rolled it back */
  commit(): Promise<void>
  isCut(): boolean
  end(): Promise<void>
}

/** The session ended, so the outcome of its unanswered statements is unknown. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/** No host of the address accepts connections as a primary. */
export class StoreUnreachable extends Error {
  override readonly name = 'StoreUnreachable'
  /** Says which remedy helps. */
  readonly code: 'OLD' | 'ENCODING' | 'STANDBY' | undefined
  constructor(message: string, facts: { readonly code?: StoreUnreachable['code']; readonly cause?: unknown } = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = facts.code
  }
}

const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 10_000
const MIN_VERSION = 140_000
const VERSIONS_PER_MAJOR = 10_000
const TLS_REQUEST = Buffer.from('0000000804d2162f', 'hex')
const TLS_ACCEPTED = 'S'

/** Settings of each session. Every read has an index, so the planner shall use it before it has statistics. */
const SESSION = {
  application_name: 'souk',
  statement_timeout: 30_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 30_000,
  standard_conforming_strings: 'on',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  // What the planner shall not do counts as dear to it, and dear statements would be compiled: a second for each.
  jit: 'off',
}

const HELLO = `select pg_is_in_recovery() as standby, current_setting('server_version_num')::int as version,
  current_setting('synchronous_commit') as sync, current_setting('server_encoding') as encoding`

/** SQLSTATE classes and codes after which a session is useless: it ended, or its server is no longer a primary. */
const LOST_CODE = /^(08...|57P0[1-5]|25006|25P0[34])$/
/** Someone else holds a lock, or the server chose this transaction to end a deadlock. */
const RETRY_CODE = /^(40001|40P01|55P03)$/

const codeOf = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code ?? '')
export const isRetriable = (error: unknown): boolean => RETRY_CODE.test(codeOf(error))
export const isLost = (error: unknown): boolean => error instanceof ConnectionLost || LOST_CODE.test(codeOf(error))

/** Connects to the host that is not a standby. @throws StoreUnreachable with what each host answered */
export async function connectPrimary(address: PgAddress, name: string): Promise<Connection> {
  const refusals: string[] = []
  const causes: unknown[] = []
  for (const host of address.hosts) {
    try {
      return await connectTo(host, address, name)
    } catch (error) {
      refusals.push(`${host.host}:${host.port}: ${wordsOf(error)}`)
      causes.push(error)
    }
  }
  // What a server answered says more than that another one is away.
  const answered = causes.find((cause) => cause instanceof Error && 'severity' in cause)
  throw new StoreUnreachable(refusals.join('; '), {
    cause: answered ?? causes.find((cause) => (cause as StoreUnreachable).code !== 'STANDBY') ?? causes[0],
  })
}

function wordsOf(error: unknown): string {
  if (codeOf(error) === 'ECONNREFUSED' || codeOf(error) === 'ENOENT') return 'no server listens there'
  return error instanceof Error ? error.message : String(error)
}

async function connectTo(host: PgHost, address: PgAddress, name: string): Promise<Connection> {
  const socket = await openSocket(host, address)
  const { default: open } = await import('postgres')
  const sockets = [socket]
  const sql = open({
    host: host.host,
    port: host.port,
    user: address.user,
    pass: address.password,
    database: address.database,
    max: 1,
    fetch_types: false,
    idle_timeout: 0,
    max_lifetime: null,
    ssl: false,
    onnotice: () => undefined,
    connection: { ...SESSION, application_name: name, search_path: address.schema },
    // The package would open a new session when this one ends.
    socket: () => sockets.pop() ?? Promise.reject(new ConnectionLost('the session ended')),
  } as postgres.Options<Record<string, never>>)
  const calls = callsUntilCut(socket)
  try {
    const [first] = await calls.run(sql.unsafe(HELLO))
    checkServer(first)
    // A server may be set to lose acknowledged transactions; this store may not.
    if (first?.sync === 'off') await calls.run(sql.unsafe('set synchronous_commit = on'))
    const ownAddress = (socket.localAddress ?? '127.0.0.1').replace(/^::ffff:/, '')
    return sessionOf({
      host,
      ownAddress,
      calls,
      reserved: await calls.run(sql.reserve()),
      end: () => sql.end({ timeout: 0 }),
    })
  } catch (error) {
    socket.destroy()
    void sql.end({ timeout: 0 })
    throw error
  }
}

/** @throws StoreUnreachable for a server that cannot have this store */
export function checkServer(said: PgRow | undefined): void {
  if (said?.standby === true) throw new StoreUnreachable('it is a standby', { code: 'STANDBY' })
  if (Number(said?.version) < MIN_VERSION) {
    const major = Math.floor(Number(said?.version) / VERSIONS_PER_MAJOR)
    throw new StoreUnreachable(`it is PostgreSQL ${major}, and 14 or newer is needed`, { code: 'OLD' })
  }
  if (said?.encoding !== 'UTF8')
    throw new StoreUnreachable(`the encoding of the database is ${said?.encoding}, not UTF8`, { code: 'ENCODING' })
}

type Calls = ReturnType<typeof callsUntilCut>

/** Rejects all calls when the socket closes, because the package forgets those that it has not sent. */
function callsUntilCut(socket: Socket) {
  const open = new Set<(error: Error) => void>()
  // It may have closed since it connected.
  let isCut = socket.destroyed
  socket.prependListener('close', () => {
    isCut = true
    for (const reject of open) reject(new ConnectionLost('the connection to the database was cut'))
    open.clear()
  })
  return {
    isCut: () => isCut,
    run<T>(call: PromiseLike<T>): Promise<T> {
      if (isCut) return Promise.reject(new ConnectionLost('the connection to the database was cut'))
      return new Promise((resolve, reject) => {
        open.add(reject)
        const done = () => open.delete(reject)
        call.then(
          (value) => {
            done()
            resolve(value)
          },
          (error: unknown) => {
            done()
            reject(isPackageError(error) ? new ConnectionLost(error.message, { cause: error }) : error)
          },
        )
      })
    },
  }
}

/** Errors that are not the server's answer come from the socket. */
function isPackageError(error: unknown): error is Error {
  return error instanceof Error && !('severity' in error)
}

type Session = Pick<Connection, 'host' | 'ownAddress'> & {
  readonly calls: Calls
  readonly reserved: postgres.ReservedSql
  readonly end: () => Promise<void>
}

function sessionOf({ host, ownAddress, calls, reserved, end }: Session): Connection {
  const send = (text: string, values: readonly PgValue[] = []) =>
    // Nothing may be handed to the package once its socket is closed.
    calls.isCut() ? calls.run(Promise.resolve([])) : calls.run(reserved.unsafe(text, [...values], { prepare: true }))
  return {
    host,
    ownAddress,
    query: send as Connection['query'],
    async script(text) {
      if (calls.isCut()) return calls.run(Promise.resolve([]))
      const found: unknown = await calls.run(reserved.unsafe(text).simple())
      const all = found as readonly (readonly PgRow[])[]
      return Array.isArray(all[0]) ? all : [found as readonly PgRow[]]
    },
    async commit() {
      const result = (await send('commit')) as { readonly command?: string }
      if (result.command !== 'COMMIT') throw new Error('the database rolled the transaction back')
    },
    isCut: calls.isCut,
    async end() {
      // A connection that is gone needs no end.
      await end().catch(() => undefined)
    },
  }
}

async function openSocket({ host, port }: PgHost, { sslmode }: PgAddress): Promise<Socket> {
  const isLocal = host.startsWith('/')
  const socket = isLocal ? connectTcp(`${host}/.s.PGSQL.${port}`) : connectTcp(port, host)
  // The package listens only later; what an error means is told by `close`.
  socket.on('error', () => undefined)
  await settled(socket, 'connect')
  socket.setNoDelay(true)
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  if (isLocal || sslmode === 'disable') return socket
  socket.write(TLS_REQUEST)
  const answer = String(await settled(socket, 'data'))
  if (answer !== TLS_ACCEPTED) {
    if (sslmode === 'prefer') return socket
    socket.destroy()
    throw new StoreUnreachable('the server does not offer TLS')
  }
  const secure = connectTls({ socket, servername: host, rejectUnauthorized: sslmode === 'verify-full' })
  secure.on('error', () => undefined)
  await settled(secure, 'secureConnect')
  return secure
}

/** Waits for the first such event; an error or the time limit destroys the socket. */
function settled(socket: Socket, event: 'connect' | 'data' | 'secureConnect'): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      clearTimeout(timer)
      socket.destroy()
      reject(error)
    }
    const timer = setTimeout(() => fail(new StoreUnreachable('it does not answer')), CONNECT_TIMEOUT_MS)
    const onClose = () => fail(new StoreUnreachable('it closed the connection'))
    socket.once('error', fail)
    socket.once('close', onClose)
    socket.once(event, (value: unknown) => {
      clearTimeout(timer)
      socket.off('error', fail)
      socket.off('close', onClose)
      resolve(value)
    })
  })
}
