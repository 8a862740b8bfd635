import { type Ask, hostOf, ofType, textsAt } from './dns-ask.ts'
import {
  askingTerms,
  type DkimKey,
  isDmarc,
  isSpf,
  readDkim,
  readSpf,
  type SpfTerm,
  usualSelectors,
} from './mail-records.ts'

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
    dmarc: dmarc?.filter(isDmarc) ?? null,
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
