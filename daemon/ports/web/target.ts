import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { MAX_URL_CHARS } from '../../../src/core/limits.ts'
import { WebError } from './error.ts'

/** Class of an address: `loopback` is this machine, `refused` is any other address that is not public. */
type Reach = 'public' | 'loopback' | 'refused'

/** IPv6 global unicast (RFC 4291); the rest is reserved or local. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Classifies an IP address without brackets. Only plain unicast is public; private, shared, link-local,
 * documentation, multicast and embedded addresses are refused. Loopback is 127.0.0.0/8 and ::1 only.
 */
export function reachOf(address: string): Reach {
  if (isIP(address) === 0 || address.includes('%')) return 'refused'
  const parsed = ipaddr.parse(address)
  if (parsed.range() === 'loopback') return 'loopback'
  const meant = ipaddr.process(address)
  if (meant.range() !== 'unicast') return 'refused'
  return meant instanceof ipaddr.IPv6 && !meant.match(GLOBAL_UNICAST) ? 'refused' : 'public'
}

/** Host of a URL without IPv6 brackets. */
export function bareHost(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
}

/** `public`: any page. `webhook`: participants' endpoints. `operator`: APIs of the operator, at any address. */
export type WebPolicy = 'public' | 'webhook' | 'operator'

export type WebPlace = { readonly host: string; readonly port: number }

export type WebRules = {
  /** Our own port, which webhooks must not reach. */
  readonly ownPort: () => number
  /** Whether webhooks may point to this machine. They may if no other machine can reach the marketplace. */
  readonly localWebhooks: boolean
  /** Hosts and ports that are exempt from the rules; for tests only. */
  readonly exempt?: (place: WebPlace) => boolean
}

/** Target of one hop; `reach` tells which addresses are allowed. */
export type WebTarget = WebPlace & { readonly url: URL; readonly reach: Exclude<Reach, 'refused'> | 'any' }

const HTTP_PORT = 80
const HTTPS_PORT = 443
/** Lowest port that webhooks may use, apart from 443. */
const FIRST_UNPRIVILEGED_PORT = 1_024

/** Checks what needs no DNS: scheme, credentials, port, literal address. @throws WebError with the refusal. */
export function targetOf(text: string, policy: WebPolicy, rules: WebRules): WebTarget {
  const url = text.length <= MAX_URL_CHARS ? URL.parse(text) : null
  if (!url) throw new WebError('url_invalid', 'The URL is invalid.')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new WebError('scheme_refused', 'Only http and https URLs are allowed.')
  }
  if (url.username !== '' || url.password !== '') {
    throw new WebError('credentials_refused', 'The URL must not contain a user name or password.')
  }
  url.hash = ''
  const place = { host: bareHost(url), port: portOf(url) }
  if (isAnywhere(place, policy, rules)) return { ...place, url, reach: 'any' }
  const isLocal = policy === 'webhook' && rules.localWebhooks && isThisMachine(place.host)
  const target: WebTarget = { ...place, url, reach: isLocal ? 'loopback' : 'public' }
  if (policy === 'webhook') checkWebhook(target, rules)
  else checkPublic(target)
  if (isIP(target.host) !== 0) checkAddress(target, target.host)
  return target
}

function isAnywhere(place: WebPlace, policy: WebPolicy, { exempt }: WebRules): boolean {
  return policy === 'operator' || exempt?.(place) === true
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? HTTPS_PORT : HTTP_PORT
}

/** Whether a host names this machine. A public name that resolves to loopback is refused. */
function isThisMachine(host: string): boolean {
  return host === 'localhost' || reachOf(host) === 'loopback'
}

function checkPublic({ port }: WebTarget): void {
  if (port !== HTTP_PORT && port !== HTTPS_PORT) {
    throw new WebError('port_refused', 'Only ports 80 and 443 are allowed.')
  }
}

function checkWebhook(target: WebTarget, rules: WebRules): void {
  const { url, port, reach } = target
  if (port === rules.ownPort()) throw new WebError('port_refused', 'A webhook must not point to this marketplace.')
  if (reach === 'loopback') return
  if (isThisMachine(target.host)) {
    const message = 'Webhooks must not point to this machine, because other machines can reach this marketplace.'
    throw new WebError('address_refused', message)
  }
  if (url.protocol !== 'https:') throw new WebError('scheme_refused', 'Webhooks to other machines must use https.')
  if (port !== HTTPS_PORT && port < FIRST_UNPRIVILEGED_PORT) {
    throw new WebError('port_refused', 'A webhook must use port 443, or 1024 or higher.')
  }
}

/** @throws WebError for a forbidden address */
export function checkAddress(target: Pick<WebTarget, 'reach'>, address: string | undefined): void {
  if (target.reach === 'any') return
  if (address !== undefined && reachOf(address) === target.reach) return
  throw new WebError('address_refused', 'The host is not on the public internet.')
}

/** Next hop of a redirect, checked like the first URL. @throws WebError if refused, or from https to http */
export function redirectTarget(from: WebTarget, location: string, check: (url: string) => WebTarget): WebTarget {
  const url = URL.parse(location, from.url.href)
  if (!url) throw new WebError('url_invalid', 'The page redirects to an invalid URL.')
  if (from.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new WebError('downgrade_refused', 'The page redirects from https to http.')
  }
  return check(url.href)
}
