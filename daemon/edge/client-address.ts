import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import { isLoopback } from '../../src/core/loopback.ts'

/** Groups of an IPv6 address that one subscriber has to itself (RFC 6177). */
const IPV6_SUBSCRIBER_GROUPS = 4

/** Address of the client; behind a proxy of this machine, the one that the proxy saw. */
export function addressOf(req: IncomingMessage): string {
  const peer = req.socket.remoteAddress ?? ''
  const forwarded = isLoopback(peer) ? String(req.headers['x-forwarded-for'] ?? '') : ''
  const seen = forwarded.split(',').at(-1)?.trim()
  const address = seen ? seen : peer
  return isIPv6(address) ? address.split(':').slice(0, IPV6_SUBSCRIBER_GROUPS).join(':') : address
}
