import { domainToASCII } from 'node:url'
import { parse } from 'tldts'
import { type JsonInput, textOf, wrongField } from '../service/service.ts'

export type Domain = {
  /** Lower-case ASCII. */
  readonly host: string
  /** The registrable domain, such as `example.co.uk` for `www.example.co.uk`; null for a public suffix. */
  readonly registrable: string | null
}

const MAX_HOST_CHARS = 253
const HTTPS_PORT = '443'
const LABELS = /^(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))+$/

/** Host in the input `domain`, which holds a host name or a page URL. @throws AppError input_invalid for an invalid name */
export function domainOf(input: JsonInput): Domain {
  const text = textOf(input, 'domain').trim()
  const host = hostIn(text)
  const { domain, isIp } = parse(host, { allowPrivateDomains: false })
  if (isIp) throw wrongField('domain', 'must be a host name, not an IP address')
  if (host.length > MAX_HOST_CHARS || !LABELS.test(host)) {
    throw wrongField('domain', 'must be a host name, such as example.com')
  }
  return { host, registrable: domain }
}

function hostIn(text: string): string {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw wrongField('domain', 'must be a host name, such as example.com')
  }
  if (url.port !== '' && url.port !== HTTPS_PORT) throw wrongField('domain', 'must not contain a port other than 443')
  if (url.username !== '' || url.password !== '') throw wrongField('domain', 'must not contain a user name or password')
  return domainToASCII(url.hostname).toLowerCase().replace(/\.$/, '')
}
