import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { TLSSocket } from 'node:tls'
import { isLoopback } from '../../src/core/loopback.ts'
import type { Config } from '../kernel/config.ts'

/** Groups of an IPv6 address that one subscriber has to itself (RFC 6177). */
const IPV6_SUBSCRIBER_GROUPS = 4
/** Whoever passes a request on says so in one of these. */
const forwardingHeaders = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via']

/** What is known of who is at the other end of a connection, and of who is behind it. */
export type Peers = {
  /** Address of the client; behind a proxy that is believed, the one that the proxy saw. */
  readonly addressOf: (req: IncomingMessage) => string
  /** Whether the address at the other end may stand for many clients: this machine, or a configured proxy. */
  readonly isProxy: (address: string) => boolean
  /** Whether somebody passed the request on, believed or not. */
  readonly isForwarded: (req: IncomingMessage) => boolean
  /** Whether nobody between the client and here could read the request. */
  readonly isConfidential: (req: IncomingMessage) => boolean
}

type Trusting = Pick<Config, 'publicUrl' | 'trustedProxies' | 'plainPayments'>

/**
 * Forwarding headers are believed only from this machine or a configured proxy, and of each only the last value: what
 * stands before it the client may have written itself. That a proxy took the request over TLS is believed only where
 * the public address is one of https.
 */
export function openPeers({ publicUrl, trustedProxies = [], plainPayments = false }: Trusting): Peers {
  const proxies = blockListOf(trustedProxies)
  const isPublicTls = publicUrl?.startsWith('https:') === true

  const isProxy = (address: string) => isLoopback(address) || (proxies !== undefined && isListed(proxies, address))
  const forwardedFor = (req: IncomingMessage) => lastOf(req.headers['x-forwarded-for'])
  const isForwarded = (req: IncomingMessage) => forwardingHeaders.some((name) => req.headers[name] !== undefined)

  function isConfidential(req: IncomingMessage): boolean {
    const peer = peerOf(req)
    if (plainPayments || req.socket instanceof TLSSocket) return true
    if (!isForwarded(req)) return isLoopback(peer)
    return isProxy(peer) && isPublicTls && lastOf(req.headers['x-forwarded-proto']) === 'https'
  }

  return {
    addressOf: (req) => {
      const peer = peerOf(req)
      return subscriberOf((isProxy(peer) && forwardedFor(req)) || peer)
    },
    isProxy,
    isForwarded,
    isConfidential,
  }
}

/** The part of an address that stands for one subscriber. */
export function subscriberOf(address: string): string {
  return isIPv6(address) ? address.split(':').slice(0, IPV6_SUBSCRIBER_GROUPS).join(':') : address
}

export function peerOf({ socket }: Pick<IncomingMessage, 'socket'>): string {
  return plain(socket.remoteAddress ?? '')
}

/** An IPv4 address as such, also where the socket listens on IPv6. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '')
}

function lastOf(header: string | string[] | undefined): string {
  return String(header ?? '')
    .split(',')
    .at(-1) // there is always one
    ?.trim() as string
}

function blockListOf(proxies: readonly string[]): BlockList | undefined {
  if (proxies.length === 0) return undefined
  const list = new BlockList()
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

function isListed(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}
