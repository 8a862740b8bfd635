import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { TLSSocket } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { isLoopback } from '../../src/core/loopback.ts'
import type { Config } from '../../src/model/start.ts'
import { signedHop } from './hop.ts'

/** Number of leading IPv6 groups that identify one subscriber (RFC 6177). */
const IPV6_SUBSCRIBER_GROUPS = 4
/** Headers that proxies add. */
const forwardingHeaders = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via']

/** Answers questions about the other end of a connection, and about the client behind a proxy. */
export type Peers = {
  /** Client address (IPv6: the subscriber's prefix). Behind a trusted proxy, the address that the proxy reports. */
  readonly addressOf: (req: IncomingMessage) => string
  /** Whether the address may represent many clients: this machine, or a configured proxy. */
  readonly isProxy: (address: string) => boolean
  /** Whether the request has forwarding headers, from a trusted proxy or not. */
  readonly isForwarded: (req: IncomingMessage) => boolean
  /** Whether payment headers may be sent: over TLS, from this machine, or if the operator allows plain HTTP. */
  readonly isConfidential: (req: IncomingMessage) => boolean
}

type Trusting = Pick<Config, 'publicUrl' | 'trustedProxies' | 'plainPayments'>

/**
 * Trusts forwarding headers only from this machine or a configured proxy. Uses only their last value, because the
 * client may have written the earlier ones. TLS at the proxy is trusted only if the public URL is https.
 */
export function openPeers({ publicUrl, trustedProxies = [], plainPayments = false }: Trusting): Peers {
  const proxies = blockListOf(trustedProxies)
  const isPublicTls = publicUrl?.startsWith('https:') === true

  const isProxy = (address: string) => isLoopback(address) || (proxies !== undefined && isListed(proxies, address))
  const forwardedFor = (req: IncomingMessage) => lastOf(req.headers['x-forwarded-for'])
  const hasForwarding = (req: IncomingMessage) => forwardingHeaders.some((name) => req.headers[name] !== undefined)

  function isConfidential(req: IncomingMessage): boolean {
    const peer = callerOf(req)
    if (plainPayments || isTls(req)) return true
    if (!hasForwarding(req)) return isLoopback(peer)
    return isProxy(peer) && isPublicTls && lastOf(req.headers['x-forwarded-proto']) === 'https'
  }

  return {
    addressOf: (req) => {
      const peer = callerOf(req)
      return subscriberOf((isProxy(peer) && forwardedFor(req)) || peer)
    },
    isProxy,
    isForwarded: (req) => hasForwarding(req) || signedHop(req)?.isOpen === true,
    isConfidential,
  }
}

/** The prefix of an IP address that identifies one customer of an internet provider. */
export function subscriberOf(address: string): string {
  if (!isIPv6(address)) return address
  return ipaddr.IPv6.parse(address).toNormalizedString().split(':').slice(0, IPV6_SUBSCRIBER_GROUPS).join(':')
}

export function peerOf({ socket }: Pick<IncomingMessage, 'socket'>): string {
  return plain(socket.remoteAddress ?? '')
}

/** Address of the client's end of the connection; that of the front's client for a request that a front handed over. */
function callerOf(req: IncomingMessage): string {
  return signedHop(req)?.address ?? peerOf(req)
}

/** Whether the client's connection is encrypted. */
export function isTls(req: IncomingMessage): boolean {
  return signedHop(req)?.isTls ?? req.socket instanceof TLSSocket
}

/** Turns an IPv4-mapped IPv6 address into plain IPv4. */
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
