import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { getServers } from 'node:dns'
import { connect, isIPv6 } from 'node:net'
import { reachOf } from '../web/target.ts'
import { type DnsAnswer, DnsError, type DnsQuestion, questionBytes, readAnswer } from './message.ts'

/** DNS client: asks this machine's resolvers, or a zone's own name servers. */
export type Dns = {
  /** Asks resolvers in order until one answers. @throws DnsError */
  readonly ask: (question: DnsQuestion, signal?: AbortSignal) => Promise<DnsAnswer>
  /** Asks one public name server of a zone. @throws DnsError */
  readonly askServer: (address: string, question: DnsQuestion, how: ServerHow) => Promise<DnsAnswer>
  /** Resolvers as `address` or `address:port`. */
  readonly servers: () => readonly string[]
}

export type ServerHow = { readonly over: 'udp' | 'tcp'; readonly signal?: AbortSignal | undefined }

export type DnsOptions = {
  /** Resolvers (default: those of this machine). */
  readonly servers?: readonly string[]
  /** Whether a name server may be asked (default: public addresses only). */
  readonly mayAsk?: (address: string) => boolean
  readonly zonePort?: number
}

const PORT = 53
const TRY_MS = 1_500
/** Attempts per resolver, because packets may be lost. */
const TRIES = 2
const MAX_ID = 65_536
const LENGTH_BYTES = 2

type Server = { readonly address: string; readonly port: number }
type Exchange = Server & { readonly asked: Parameters<typeof readAnswer>[1]; readonly signal: AbortSignal }

export function openDns(options: DnsOptions = {}): Dns {
  const servers = () => options.servers ?? getServers()
  const mayAsk = options.mayAsk ?? ((address: string) => reachOf(address) === 'public')

  async function ask(question: DnsQuestion, signal?: AbortSignal): Promise<DnsAnswer> {
    const turns = servers().flatMap((server) => Array.from({ length: TRIES }, () => serverOf(server)))
    let failed = new DnsError('refused', 'This machine has no DNS resolver.')
    for (const server of turns) {
      try {
        return await exchange({ ...server, question, recursive: true, over: 'udp', signal })
      } catch (error) {
        if (!(error instanceof DnsError) || signal?.aborted) throw error
        failed = error
      }
    }
    throw failed
  }

  async function askServer(address: string, question: DnsQuestion, { over, signal }: ServerHow): Promise<DnsAnswer> {
    if (!mayAsk(address)) throw new DnsError('refused', 'The name server is not on the public internet.')
    return exchange({ address, port: options.zonePort ?? PORT, question, recursive: false, over, signal })
  }

  return { ask, askServer, servers }
}

/** Parses `1.2.3.4`, `1.2.3.4:5300`, `2001:db8::1` or `[2001:db8::1]:5300`. */
function serverOf(text: string): Server {
  if (isIPv6(text)) return { address: text, port: PORT }
  const { address = text, port } = /^\[?(?<address>.+?)\]?(:(?<port>\d+))?$/.exec(text)?.groups ?? {}
  return { address, port: port === undefined ? PORT : Number(port) }
}

type Ask = Server & {
  readonly question: DnsQuestion
  readonly recursive: boolean
  readonly over: ServerHow['over']
  readonly signal: AbortSignal | undefined
}

async function exchange({ address, port, question, recursive, over, signal: caller }: Ask): Promise<DnsAnswer> {
  const late = AbortSignal.timeout(TRY_MS)
  const signal = caller ? AbortSignal.any([caller, late]) : late
  const parts = { address, port, asked: { ...question, id: randomInt(MAX_ID), recursive }, signal }
  const answer = await (over === 'udp' ? overUdp(parts) : overTcp(parts))
  const { truncated, ...whole } = answer
  // Repeat a question over TCP if its answer is truncated (RFC 7766).
  return truncated && over === 'udp'
    ? exchange({ address, port, question, recursive, over: 'tcp', signal: caller })
    : whole
}

type Read = NonNullable<ReturnType<typeof readAnswer>>

/** Asks over UDP. Uses a connected socket, because such a socket ignores packets from other senders. */
function overUdp({ address, port, asked, signal }: Exchange): Promise<Read> {
  const message = questionBytes(asked)
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  const { promise, resolve, reject } = Promise.withResolvers<Read>()
  const onAbort = () => reject(silent())
  signal.addEventListener('abort', onAbort, { once: true })
  socket.on('error', (error) => reject(new DnsError('broken', 'The name server cannot be reached.', error)))
  socket.on('message', (bytes) => {
    try {
      const answer = readAnswer(bytes, asked)
      if (answer) resolve(answer)
    } catch (error) {
      reject(error)
    }
  })
  // Do not pass a callback to `connect`, because it would also be called if there is no route.
  socket.on('connect', () => socket.send(message))
  socket.connect(port, address)
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    socket.close()
  })
}

function overTcp({ address, port, asked, signal }: Exchange): Promise<Read> {
  const message = questionBytes(asked)
  const { promise, resolve, reject } = Promise.withResolvers<Read>()
  const socket = connect({ host: address, port })
  const onAbort = () => reject(silent())
  signal.addEventListener('abort', onAbort, { once: true })
  let received = Buffer.alloc(0)
  socket.on('error', (error) => reject(new DnsError('broken', 'The name server cannot be reached.', error)))
  socket.on('end', () => reject(new DnsError('broken', 'The name server closed the connection.')))
  socket.on('connect', () => {
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt16BE(message.length)
    socket.write(Buffer.concat([length, message]))
  })
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    if (received.length < LENGTH_BYTES || received.length < LENGTH_BYTES + received.readUInt16BE(0)) return
    try {
      const answer = readAnswer(received.subarray(LENGTH_BYTES, LENGTH_BYTES + received.readUInt16BE(0)), asked)
      if (answer) resolve(answer)
      else reject(new DnsError('broken', 'The name server answered a different query.'))
    } catch (error) {
      reject(error)
    }
  })
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    socket.destroy()
  })
}

function silent(): DnsError {
  return new DnsError('timeout', 'The name server did not answer in time.')
}
