import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Entropy } from '../../src/core/hex.ts'
import type { Config } from '../../src/model/start.ts'
import { answerBrokenRequest } from './broken.ts'
import { boundConnections, type Connections, openPeers, type Peers } from './connections.ts'
import { type FrontServer, openFront } from './front.ts'
import * as limits from './limits.ts'
import { oneAtATime } from './one-at-a-time.ts'

const STARTING = 'The daemon is still starting.'

/** A listening port. Until the marketplace is open, it responds 503, or hands requests to the daemon that leads. */
export type TakenPort = {
  readonly server: Server
  readonly port: number
  readonly peers: Peers
  readonly connections: Connections
  /** Sets the sentence of the 503 responses (default: that the daemon starts). */
  readonly refuse: (sentence: string | undefined) => void
  readonly follow: FrontServer['follow']
  /** Gives all later requests to the marketplace. */
  readonly handOver: (listener: RequestListener) => void
  /** Refuses connections, waits for responses, ends idle connections, and closes the rest at the time limit. */
  readonly close: () => Promise<void>
}

/** Listens on the port before the daemon is ready. @throws what listening throws: EADDRINUSE, EACCES */
export async function takePort(config: Config, entropy: Entropy, wall: () => number): Promise<TakenPort> {
  const server = openServer(config)
  const peers = openPeers(config)
  const connections = boundConnections({ server }, peers, wall)
  const portOf = () => (server.address() as AddressInfo).port
  const front = openFront({ config, entropy, port: portOf, peers })
  let sentence: string | undefined
  let listener = oneAtATime((req, res) => {
    connections.began(req, res)
    front.serve({ req, res }, sentence ?? STARTING)
  })
  const broken = answerBrokenRequest(entropy, connections.isAnswering)
  server.on('request', (req, res) => listener(req, res))
  server.on('clientError', broken)
  server.listen(config.port, config.host)
  await once(server, 'listening')
  return {
    server,
    port: portOf(),
    peers,
    connections,
    refuse(given) {
      sentence = given
    },
    follow: front.follow,
    handOver(next) {
      server.off('clientError', broken)
      listener = next
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      connections.drain()
      const timer = setTimeout(() => server.closeAllConnections(), limits.DRAIN_MS)
      await closed
      clearTimeout(timer)
    },
  }
}

function openServer(config: Config): Server {
  const server = listenerOf(config)
  server.requestTimeout = config.requestTimeoutMs ?? limits.REQUEST_TIMEOUT_MS
  server.headersTimeout = Math.min(limits.HEADERS_TIMEOUT_MS, server.requestTimeout)
  server.keepAliveTimeout = limits.KEEP_ALIVE_TIMEOUT_MS
  server.timeout = limits.IDLE_SOCKET_MS
  // Node would reject an unknown `Expect` header without souk's error form. Ignoring it is allowed (RFC 9110 10.1.1).
  server.on('checkExpectation', (req, res) => server.emit('request', req, res))
  return server
}

function listenerOf({ tls, store }: Config): Server {
  const options = {
    maxHeaderSize: limits.MAX_HEADER_BYTES + (store === undefined ? 0 : limits.HOP_HEADER_BYTES),
    requireHostHeader: false,
    connectionsCheckingInterval: limits.TIMEOUT_CHECK_MS,
  }
  if (!tls) return createServer(options)
  const { cert, key } = tls
  const own = { cert, key, minVersion: 'TLSv1.2', handshakeTimeout: limits.HANDSHAKE_TIMEOUT_MS } as const
  return createSecureServer({ ...options, ...own })
}
