import { createPublicKey } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { type Ask, hostOf, ofType, textsAt } from './dns-ask.ts'

/** Lookup limit of SPF (RFC 7208, 4.6.4); the limit also ends loops. */
export const MAX_SPF_LOOKUPS = 10
export const MAX_SPF_VOIDS = 2
const MAX_SPF_EXCHANGERS = 10
/** Lookups and faults of an SPF record (RFC 7208, 4.6.4). */
export type SpfFacts = {
  readonly lookups: number
  /** Lookups without records. */
  readonly voids: number
  readonly errors: readonly string[]
  /** False if a name server did not respond. */
  readonly isWhole: boolean
}

/** Null means that no name server responded. An empty list or false means that there is no record. */
export type MailFacts = Awaited<ReturnType<typeof mailOf>>

export async function mailOf(ask: Ask, zone: string) {
  const [own, dmarc, sts, rpt, dkim] = await Promise.all([
    textsAt(ask, zone),
    textsAt(ask, `_dmarc.${zone}`),
    textsAt(ask, `_mta-sts.${zone}`),
    textsAt(ask, `_smtp._tls.${zone}`),
    Promise.all(usualSelectors.map((selector) => dkimAt(ask, zone, selector))),
  ])
  const spf = own?.filter(isSpf) ?? null
  const [first] = spf ?? []
  return {
    spf,
    check: first === undefined ? null : await spfCheck(ask, zone, first),
    // Receivers ignore other texts at the `_dmarc` name (RFC 7489, 6.6.3).
    dmarc: dmarc?.filter((text) => /^v\s*=\s*DMARC1\s*(;|$)/.test(text)) ?? null,
    mta_sts: sts?.some((text) => /^v=STSv1\b/i.test(text)) ?? null,
    tls_rpt: rpt?.some((text) => /^v=TLSRPTv1\b/i.test(text)) ?? null,
    dkim: dkim.flat(),
  }
}

async function dkimAt(ask: Ask, zone: string, selector: string): Promise<DkimKey[]> {
  const texts = (await textsAt(ask, `${selector}._domainkey.${zone}`)) ?? []
  return texts.flatMap((text) => readDkim(selector, text) ?? []).slice(0, 1)
}

type SpfWalk = { lookups: number; voids: number; errors: Set<string>; isWhole: boolean }
type SpfFound = { readonly isVoid: boolean; readonly error?: string; readonly text?: string }

/** Follows the includes of a record as a receiver does, up to one lookup beyond the limit. */
async function spfCheck(ask: Ask, zone: string, record: string): Promise<SpfFacts> {
  const walk: SpfWalk = { lookups: 0, voids: 0, errors: new Set(), isWhole: true }
  const waiting = [{ at: zone, text: record }]
  for (let next = waiting.pop(); next !== undefined && walk.lookups <= MAX_SPF_LOOKUPS; next = waiting.pop()) {
    const { at, text } = next
    const { terms, errors } = readSpf(text)
    for (const error of errors) walk.errors.add(at === zone ? error : `${error}, at ${at}`)
    for (const term of terms.filter(({ name }) => askingTerms.has(name))) {
      waiting.push(...(await followed(ask, walk, { ...term, target: term.target || at })))
    }
  }
  return { ...walk, errors: [...walk.errors] }
}

/** Counts a term and its lookups. @returns the SPF record that the term includes, if any */
async function followed(ask: Ask, walk: SpfWalk, term: SpfTerm): Promise<{ at: string; text: string }[]> {
  walk.lookups += 1
  // A term with a macro depends on the sender. Once a response is missing, the count stays incomplete.
  if (walk.lookups > MAX_SPF_LOOKUPS || !walk.isWhole || term.target.includes('%')) return []
  const at = term.target.toLowerCase().replace(/\.$/, '')
  const found = await (finders[term.name] ?? addressed)(ask, at)
  if (!found) walk.isWhole = false
  if (found?.isVoid) walk.voids += 1
  if (found?.error !== undefined) walk.errors.add(found.error)
  return found?.text === undefined ? [] : [{ at, text: found.text }]
}

type Finder = (ask: Ask, target: string) => Promise<SpfFound | undefined>
/** How to look up a term's target, by the term's name. All terms not listed here look up addresses. */
const finders: Readonly<Record<string, Finder>> = {
  include: included,
  redirect: included,
  mx: exchanged,
  ptr: async () => ({ isVoid: false }),
}

async function included(ask: Ask, target: string): Promise<SpfFound | undefined> {
  const texts = await textsAt(ask, target)
  const [text, ...more] = texts?.filter(isSpf) ?? []
  if (texts === null) return undefined
  if (text === undefined) return { isVoid: texts.length === 0, error: `${target} is included, but has no SPF record` }
  return more.length > 0 ? { isVoid: false, error: `${target} has more than one SPF record` } : { isVoid: false, text }
}

async function exchanged(ask: Ask, target: string): Promise<SpfFound | undefined> {
  const answer = await ask(target, 'MX')
  const count = ofType(answer, 'MX').length
  const error = `${target} has more than ${MAX_SPF_EXCHANGERS} MX records`
  return answer && { isVoid: count === 0, ...(count > MAX_SPF_EXCHANGERS ? { error } : {}) }
}

async function addressed(ask: Ask, target: string): Promise<SpfFound | undefined> {
  const { addresses } = await hostOf(ask, target)
  return addresses === null ? undefined : { isVoid: addresses.length === 0 }
}

/* Parsers of SPF (RFC 7208), DMARC (RFC 7489) and DKIM keys (RFC 6376). */

type SpfTerm = { readonly qualifier: string; readonly name: string; readonly target: string }
type SpfRecord = {
  /** The terms that receivers evaluate. They ignore terms after `all`; with `all`, they ignore `redirect`, too. */
  readonly terms: readonly SpfTerm[]
  /** Errors that make the record invalid. */
  readonly errors: readonly string[]
}

/** Terms that cost a lookup (RFC 7208, 4.6.4). */
const askingTerms: ReadonlySet<string> = new Set(['include', 'a', 'mx', 'ptr', 'exists', 'redirect'])

const DOMAIN_AND_PREFIXES = /^(?::([^/]+))?(?:\/\d{1,3})?(?:\/\/\d{1,3})?$/
const isAddress = (prefixBits: number, isOf: (text: string) => boolean) => (rest: string) => {
  const [address = '', prefix, ...more] = rest.slice(1).split('/')
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= prefixBits)
  return rest.startsWith(':') && isOf(address) && isPrefix && more.length === 0
}
/** For each SPF mechanism, whether the text after its name is valid. */
const mechanisms: Readonly<Record<string, (rest: string) => boolean>> = {
  all: (rest) => rest === '',
  include: (rest) => /^:[^/]+$/.test(rest),
  exists: (rest) => /^:[^/]+$/.test(rest),
  ptr: (rest) => /^(:[^/]+)?$/.test(rest),
  a: (rest) => DOMAIN_AND_PREFIXES.test(rest),
  mx: (rest) => DOMAIN_AND_PREFIXES.test(rest),
  ip4: isAddress(32, isIPv4),
  ip6: isAddress(128, isIPv6),
}

function isSpf(text: string): boolean {
  return /^v=spf1( |$)/i.test(text)
}

export function readSpf(text: string): SpfRecord {
  const words = text.split(' ').slice(1).filter(Boolean)
  const modifiers = words.flatMap((word) => MODIFIER.exec(word)?.slice(1) ?? [])
  const read = words.filter((word) => !MODIFIER.test(word)).map(mechanismOf)
  const terms = read.flatMap(({ term }) => term ?? [])
  const end = terms.findIndex(({ name }) => name === 'all')
  const target = /(?:^| )redirect=(\S+)/i.exec(text)?.[1]
  const names = modifiers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
  const twice = ['redirect', 'exp'].filter((name) => names.indexOf(name) !== names.lastIndexOf(name))
  return {
    terms:
      end >= 0 ? terms.slice(0, end + 1) : [...terms, ...(target ? [{ qualifier: '', name: 'redirect', target }] : [])],
    errors: [
      ...read.flatMap(({ error }) => error ?? []),
      ...twice.map((name) => `"${name}=" occurs twice`),
      ...words.filter((word) => /^(redirect|exp)=$/i.test(word)).map((word) => `"${word}" has no domain`),
    ],
  }
}

const MODIFIER = /^([a-z][\w.-]*)=(.*)$/i

function mechanismOf(word: string): { readonly term?: SpfTerm; readonly error?: string } {
  const [, qualifier = '', written = '', rest = ''] = /^([+?~-]?)([^:/]*)(.*)$/.exec(word) ?? []
  const name = written.toLowerCase()
  const fits = Object.hasOwn(mechanisms, name) ? mechanisms[name] : undefined
  if (!fits) return { error: `"${word}" is not an SPF mechanism` }
  if (!fits(rest)) return { error: `"${word}" does not follow RFC 7208` }
  return { term: { qualifier: qualifier || '+', name, target: /^:([^/]+)/.exec(rest)?.[1] ?? '' } }
}

type DmarcRecord = { readonly tags: ReadonlyMap<string, string>; readonly errors: readonly string[] }

const isPolicy = (value: string) => /^(none|quarantine|reject)$/i.test(value)
const isAlignment = (value: string) => /^[rs]$/i.test(value)
/** Whether a value is a list of `mailto:` addresses, each with an optional size. */
const areUris = (value: string) =>
  value.split(',').every((uri) => /^\s*mailto:[^\s@,;]+@[^\s@,;!]+(![0-9]+[kmgt]?)?\s*$/i.test(uri))
const dmarcTags: ReadonlyMap<string, (value: string) => boolean> = new Map(
  Object.entries({
    p: isPolicy,
    sp: isPolicy,
    adkim: isAlignment,
    aspf: isAlignment,
    pct: (value) => /^\d{1,3}$/.test(value) && Number(value) <= 100,
    ri: (value) => /^\d+$/.test(value),
    fo: (value) => /^[01ds](\s*:\s*[01ds])*$/i.test(value),
    rua: areUris,
    ruf: areUris,
  }),
)

export function readDmarc(text: string): DmarcRecord {
  const parts = text.split(';').map((one) => one.trim())
  const pairs = parts.filter(Boolean).map((part) => /^([a-z]+)\s*=\s*(.*)$/i.exec(part) ?? [part])
  const named = pairs.flatMap(([part, name, value = '']) => (name ? [{ part, tag: name.toLowerCase(), value }] : []))
  const tags = new Map(named.map(({ tag, value }) => [tag, value]))
  return {
    tags,
    errors: [
      ...pairs.filter(([, name]) => name === undefined).map(([part]) => `"${part}" is not tag=value`),
      ...named
        .filter(({ tag, value }) => dmarcTags.get(tag)?.(value) === false)
        .map(({ part }) => `"${part}" has an invalid value (RFC 7489)`),
      ...(tags.size < named.length ? ['a tag occurs twice'] : []),
      ...(tags.has('p') ? [] : ['the policy (p=) is missing']),
    ],
  }
}

type DkimKey = { readonly selector: string; readonly key: string; readonly bits: number | null }

/** Reads a DKIM key record; undefined for any other text. An empty key means that it was revoked (RFC 6376, 3.6.1). */
function readDkim(selector: string, text: string): DkimKey | undefined {
  const tags = new Map(
    text.split(';').map((part) => [part.split('=')[0]?.trim() ?? '', part.slice(part.indexOf('=') + 1)]),
  )
  const data = tags.get('p')?.replace(/\s/g, '')
  if (data === undefined || (tags.get('v')?.trim() ?? 'DKIM1') !== 'DKIM1') return undefined
  const key = tags.get('k')?.trim().toLowerCase() || 'rsa'
  if (data === '') return { selector, key: 'revoked', bits: null }
  if (key !== 'rsa') return { selector, key, bits: null }
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: Buffer.from(data, 'base64'), format: 'der', type: 'spki' })
    return { selector, key, bits: asymmetricKeyDetails?.modulusLength ?? null }
  } catch {
    return { selector, key: 'unreadable', bits: null }
  }
}

/** Selectors that mail services use by default; DNS has no list of a domain's selectors. */
export const usualSelectors = [
  'default',
  'google',
  'selector1',
  'selector2',
  'k1',
  'k2',
  's1',
  's2',
  'dkim',
  'mail',
  'fm1',
  'fm2',
  'pm',
  'protonmail',
  'zoho',
  'mandrill',
] as const
