/** Names of the security headers that are checked, in lower case. */
export const securityHeaders = [
  'strict-transport-security',
  'content-security-policy',
  'x-content-type-options',
  'x-frame-options',
  'referrer-policy',
  'permissions-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'cross-origin-embedder-policy',
] as const
type SecurityHeader = (typeof securityHeaders)[number]

export type HeaderVerdict = {
  readonly header: SecurityHeader
  readonly present: boolean
  readonly verdict: 'good' | 'weak' | 'missing'
  readonly note: string
}

const DAY_S = 86_400
const MIN_HSTS_DAYS = 180
const MAX_VALUE_CHARS = 2_000

export type Hsts = { readonly days: number; readonly subdomains: boolean }

/** Parses Strict-Transport-Security (RFC 6797); undefined without `max-age`. */
export function hstsOf(value: string | undefined): Hsts | undefined {
  const seconds = /max-age\s*=\s*"?(\d{1,12})/i.exec(value ?? '')?.[1]
  if (value === undefined || seconds === undefined) return undefined
  return { days: Math.floor(Number(seconds) / DAY_S), subdomains: /includesubdomains/i.test(value) }
}

export function isLongEnough(hsts: Hsts | undefined): boolean {
  return hsts !== undefined && hsts.days >= MIN_HSTS_DAYS
}

const ANY_SCRIPT = /(?:^|;)\s*(?:default|script)-src(?:-elem)?\s[^;]*?(?<=\s)(?:\*|https?:|data:)(?=\s|;|$)/i

/** For each header, the weakness of a value; undefined if the value has none. */
const weaknesses: Readonly<Record<SecurityHeader, (value: string) => string | undefined>> = {
  'strict-transport-security': (value) =>
    isLongEnough(hstsOf(value)) ? undefined : `shorter than ${MIN_HSTS_DAYS} days`,
  'content-security-policy': (value) => {
    const isSigned = /'(nonce|sha\d{3})-/.test(value)
    if (/unsafe-inline/.test(value) && !isSigned) return "allows 'unsafe-inline'"
    if (/unsafe-eval/.test(value)) return "allows 'unsafe-eval'"
    if (ANY_SCRIPT.test(value) && !isSigned) return 'allows scripts from every site'
    return /(^|;)\s*(default|script)-src/.test(value) ? undefined : 'does not limit scripts'
  },
  'x-content-type-options': (value) => (/^nosniff$/i.test(value.trim()) ? undefined : 'is not nosniff'),
  'x-frame-options': (value) =>
    /^(deny|sameorigin)$/i.test(value.trim()) ? undefined : 'is neither DENY nor SAMEORIGIN',
  // Of several policies, the last counts.
  'referrer-policy': (value) =>
    /(?:unsafe-url|no-referrer-when-downgrade)\s*$/i.test(value) ? 'sends full URLs to other sites' : undefined,
  'permissions-policy': (value) => (/=\s*\*/.test(value) ? 'allows a feature to every site' : undefined),
  'cross-origin-opener-policy': (value) => (/unsafe-none/i.test(value) ? 'is unsafe-none' : undefined),
  'cross-origin-resource-policy': (value) =>
    /cross-origin/i.test(value) ? 'lets every site embed the resource' : undefined,
  'cross-origin-embedder-policy': (value) => (/unsafe-none/i.test(value) ? 'is unsafe-none' : undefined),
}

type Headers = Readonly<Record<string, string>>

export function judgeHeaders(headers: Headers): HeaderVerdict[] {
  return securityHeaders.map((header) => {
    const value = headers[header]
    if (header === 'x-frame-options' && /frame-ancestors(?![^;]*\s\*)/i.test(headers['content-security-policy'] ?? ''))
      return { header, present: value !== undefined, verdict: 'good', note: 'frame-ancestors stands in its place' }
    if (value === undefined) return { header, present: false, verdict: 'missing', note: 'missing' }
    const weakness = weaknesses[header](value)
    return { header, present: true, verdict: weakness ? 'weak' : 'good', note: weakness ?? 'as recommended' }
  })
}

/** Security headers and the `server` header of a response. */
export function shownHeaders(headers: Headers): Record<string, string> {
  const shown = [...securityHeaders, 'server'].flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value.slice(0, MAX_VALUE_CHARS)] as const]
  })
  return Object.fromEntries(shown)
}
