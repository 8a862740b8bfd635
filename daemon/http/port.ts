import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { AppError } from '../../src/core/error.ts'
import type { Entropy } from '../../src/core/hex.ts'
import { before } from '../../src/core/record.ts'
import type { Config } from '../../src/model/start.ts'
import { newRequestId } from './broken.ts'
import * as limits from './limits.ts'
import { sendError } from './send.ts'

/** `Retry-After` in seconds, while the marketplace is not open yet. */
const RETRY_AFTER_S = 1

const STARTING = 'The daemon is still starting.'

/**
 * Answers `/live` and `/ready`, by which proxies and supervisors choose a daemon.
 * @param away - why this daemon serves no requests now, if it serves none
 * @returns false for any other path
 */
export function answerProbe({ url = '' }: IncomingMessage, res: ServerResponse, away: string | undefined): boolean {
  const path = before(url, '?')
  if (path !== '/live' && path !== '/ready') return false
  const isWell = path === '/live' || away === undefined
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
  res.writeHead(isWell ? 200 : 503, { ...headers, ...(isWell ? {} : { 'Retry-After': RETRY_AFTER_S }) })
  res.end(`${isWell ? 'ok' : away}\n`)
  return true
}

/** A connection accepted before the marketplace opened. */
export type EarlyConnection = { readonly socket: Socket; readonly isSecure: boolean }

/** A listening port that responds 503 until the marketplace is open. */
export type TakenPort = {
  readonly server: Server
  readonly port: number
  /** Sets the sentence of the 503 responses (default: that the daemon starts). */
  readonly refuse: (sentence: string | undefined) => void
  /** Stops the 503 responses and gives the port to the marketplace. @returns the open connections, oldest first */
  readonly handOver: () => readonly EarlyConnection[]
  readonly close: () => Promise<void>
}

/** Listens on the port before the daemon is ready. @throws what listening throws: EADDRINUSE, EACCES */
export async function takePort(config: Config, entropy: Entropy): Promise<TakenPort> {
  const server = openServer(config)
  const early = new Map<Socket, EarlyConnection>()
  const note = (isSecure: boolean) => (socket: Socket) => {
    early.set(socket, { socket, isSecure })
    socket.once('close', () => early.delete(socket))
  }
  let sentence: string | undefined
  const handlers = {
    connection: note(false),
    secureConnection: note(true),
    request: answerEarly(entropy, () => sentence ?? STARTING),
    clientError: (_error: Error, socket: Socket) => void socket.destroy(),
  }
  for (const [event, handler] of Object.entries(handlers)) server.on(event, handler)
  server.maxConnections = limits.MAX_CONNECTIONS
  server.listen(config.port, config.host)
  await once(server, 'listening')
  return {
    server,
    port: (server.address() as AddressInfo).port,
    refuse(given) {
      sentence = given
    },
    handOver() {
      for (const [event, handler] of Object.entries(handlers)) server.off(event, handler)
      server.maxConnections = Number.POSITIVE_INFINITY // each address has a bound of its own from now on
      return [...early.values()]
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      for (const socket of early.keys()) socket.destroy()
      await closed
    },
  }
}

function openServer({ tls }: Config): Server {
  const options = {
    maxHeaderSize: limits.MAX_HEADER_BYTES,
    requireHostHeader: false,
    connectionsCheckingInterval: limits.TIMEOUT_CHECK_MS,
  }
  if (!tls) return createServer(options)
  const { cert, key } = tls
  const own = { cert, key, minVersion: 'TLSv1.2', handshakeTimeout: limits.HANDSHAKE_TIMEOUT_MS } as const
  return createSecureServer({ ...options, ...own })
}

function answerEarly(entropy: Entropy, sentence: () => string) {
  return (req: IncomingMessage, res: ServerResponse) => {
    if (answerProbe(req, res, sentence())) return
    const error = new AppError('unavailable', sentence(), { retryAfter: RETRY_AFTER_S })
    const requestId = newRequestId({ entropy })
    res.setHeader('Connection', 'close')
    res.setHeader('X-Request-Id', requestId)
    sendError(res, error, { requestId })
  }
}
