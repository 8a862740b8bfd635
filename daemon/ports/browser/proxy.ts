import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { pipeline, type Readable, Transform } from 'node:stream'
import { asWebError, WebError } from '../web/error.ts'
import type { Web } from '../web/web.ts'

/** A forward proxy on loopback for one browser. It connects to public addresses only. */
export type GuardedProxy = Awaited<ReturnType<typeof openProxy>>

export type ProxyOptions = {
  readonly web: Pick<Web, 'dial'>
  /** Called once when a limit is reached; from then on the proxy blocks everything. */
  readonly onExceeded: (what: string) => void
}

export const MAX_CONNECTIONS = 300
export const MAX_WIRE_BYTES = 20 * 1024 * 1024
/** Limit of bytes that a page may send in addresses, headers and handshakes. */
const MAX_SENT_BYTES = 1024 * 1024
const MAX_HEADER_BYTES = 64 * 1024
const MAX_REFUSALS = 300

/** Hop-by-hop headers (RFC 9110, 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const readingMethods: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD'])

type Books = {
  readonly options: ProxyOptions
  readonly refusals: Map<string, WebError>
  readonly aborted: AbortController
  readonly count: { connections: number; bytes: number; sent: number }
}

/** Opens a proxy on a free port. It resolves host names itself, and connects only to addresses that it has checked. */
export async function openProxy(options: ProxyOptions) {
  const count = { connections: 0, bytes: 0, sent: 0 }
  const books: Books = { options, refusals: new Map(), aborted: new AbortController(), count }
  const sockets = new Set<Socket>()
  const server = createServer(
    { maxHeaderSize: MAX_HEADER_BYTES },
    (asked, answer) => void forward(books, asked, answer),
  )
  server.on(
    'connect',
    (asked: IncomingMessage, socket: Socket, head: Buffer) => void tunnel(books, asked, { socket, head }),
  )
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** Origins that were refused or unreachable, with the reason. */
    refusals: books.refusals,
    close: async () => {
      books.aborted.abort()
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** @throws WebError when the address is refused or unreachable */
async function dial({ options, aborted, count, refusals }: Books, url: string): Promise<Socket> {
  const origin = URL.parse(url)?.origin ?? ''
  try {
    count.connections += 1
    if (count.connections > MAX_CONNECTIONS) {
      exceeded({ options, aborted }, `The page opens more than ${MAX_CONNECTIONS} connections`)
    }
    aborted.signal.throwIfAborted()
    return await options.web.dial(url, aborted.signal)
  } catch (error) {
    const why = asWebError(error, { connected: false, isTls: false })
    if (refusals.size < MAX_REFUSALS) refusals.set(origin, why)
    throw why
  }
}

/** Tunnels TLS. The proxy cannot read what is inside. */
async function tunnel(books: Books, asked: IncomingMessage, { socket, head }: { socket: Socket; head: Buffer }) {
  try {
    const place = await dial(books, `https://${asked.url ?? ''}/`)
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    place.write(head)
    pipeline(socket, counted(books, 'sent'), place, () => socket.destroy())
    pipeline(place, counted(books, 'bytes'), socket, () => place.destroy())
  } catch {
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  }
}

async function forward(books: Books, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  try {
    if (!readingMethods.has(asked.method)) throw new WebError('scheme_refused', 'Only GET and HEAD are allowed.')
    const url = asked.url ?? ''
    if (!url.startsWith('http://')) throw new WebError('scheme_refused', 'Only http URLs are forwarded.')
    const socket = await dial(books, url)
    const { pathname, search } = new URL(url)
    const sent = request({
      method: asked.method,
      path: `${pathname}${search}`,
      headers: kept(asked.rawHeaders).flat(),
      createConnection: () => socket,
      maxHeaderSize: MAX_HEADER_BYTES,
      signal: books.aborted.signal,
    })
    sent.on('response', (response) => {
      try {
        answer.writeHead(response.statusCode ?? 0, response.statusMessage, kept(response.rawHeaders).flat())
      } catch {
        // Malformed response heads cannot be forwarded.
        answer.destroy()
        return
      }
      pipeline(response as Readable, counted(books, 'bytes'), answer, () => socket.destroy())
    })
    // Send no error response, because the browser would show it as a response of the site.
    sent.on('error', () => answer.destroy())
    answer.on('close', () => socket.destroy())
    sent.end()
  } catch {
    answer.destroy()
  }
}

/** The headers to forward: all but hop-by-hop headers. `raw` alternates names and values. */
function kept(raw: readonly string[]): [string, string][] {
  const pairs = raw.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []))
  return pairs.filter(([name]) => !hopByHop.has(name.toLowerCase()))
}

const limits = { bytes: MAX_WIRE_BYTES, sent: MAX_SENT_BYTES } as const

function counted(books: Books, what: keyof typeof limits): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      books.count[what] += chunk.length
      if (books.count[what] <= limits[what]) return done(null, chunk)
      exceeded(books, what === 'bytes' ? `The page is larger than ${MAX_WIRE_BYTES} bytes` : 'The page sends too much')
      return done(new WebError('too_large', 'A limit of the browser was reached.'))
    },
  })
}

function exceeded({ options, aborted }: Pick<Books, 'options' | 'aborted'>, what: string): void {
  if (!aborted.signal.aborted) options.onExceeded(what)
  aborted.abort()
}
