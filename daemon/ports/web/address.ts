import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Where an address leads: to the open internet, to this machine, or somewhere nobody may be sent. */
export type Reach = 'public' | 'loopback' | 'refused'

/** IPv6 in use on the internet (RFC 4291 global unicast); the rest of the space is reserved or local. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Judges an IP address as text, as a resolver or `URL.hostname` gives it, without brackets. Only plain unicast is
 * public: private, shared, link-local, documentation, multicast and every form that carries another address inside
 * are refused. Loopback is 127.0.0.0/8 and ::1, and no other spelling of them.
 */
export function reachOf(address: string): Reach {
  if (isIP(address) === 0 || address.includes('%')) return 'refused'
  const parsed = ipaddr.parse(address)
  if (parsed.range() === 'loopback') return 'loopback'
  const meant = ipaddr.process(address)
  if (meant.range() !== 'unicast') return 'refused'
  return meant instanceof ipaddr.IPv6 && !meant.match(GLOBAL_UNICAST) ? 'refused' : 'public'
}

/** The host of a URL as a resolver wants it: an IPv6 literal loses its brackets. */
export function bareHost(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
}

export function isAddressLiteral(host: string): boolean {
  return isIP(host) !== 0
}
