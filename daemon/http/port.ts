import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Entropy } from '../../src/core/hex.ts'
import type { Config } from '../../src/model/start.ts'
import { answerBrokenRequest } from './broken.ts'
import { boundConnections, openPeers } from './connections.ts'
import { openFront } from './front.ts'
import * as limits from './limits.ts'
import { oneAtATime } from './one-at-a-time.ts'

const STARTING = 'The daemon is still starting.'

/** A listening port. Until the marketplace is open, it responds 503, or hands requests to the daemon that leads. */
export type TakenPort = Awaited<ReturnType<typeof takePort>>

/** Listens on the port before the daemon is ready. @throws what listening throws: EADDRINUSE, EACCES */
export async function takePort(config: Config, entropy: Entropy, wall: () => number) {
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
    /** Sets the sentence of the 503 responses (default: that the daemon starts). */
    refuse(given: string | undefined): void {
      sentence = given
    },
    follow: front.follow,
    /** Gives all later requests to the marketplace. */
    handOver(next: RequestListener): void {
      server.off('clientError', broken)
      listener = next
    },
    /** Refuses connections, waits for responses, ends idle connections, and closes the rest at the time limit. */
    async close(): Promise<void> {
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
