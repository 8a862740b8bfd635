import { type Judged, type Rule, rule } from '../service/findings.ts'
import { type HostFacts, notPublic } from './dns-ask.ts'
import type { DnsFacts } from './dns-facts.ts'
import { MAX_SPF_LOOKUPS, MAX_SPF_VOIDS, readDmarc, readSpf, type SpfFacts } from './mail-facts.ts'

/** The MX record of a domain that accepts no mail (RFC 7505). */
const NO_MAIL = /^\d+ \.?$/
const WEAK_BITS = 1_024
const USUAL_BITS = 2_048
const WHOLE_PERCENT = 100

/** Rules about mail: whether it arrives, and whether it can be forged. */
export const mailRules: readonly Rule<DnsFacts>[] = [
  rule('mail_exchangers', 6, (facts) => mailExchangers(facts)),
  rule('spf', 8, ({ mail }) => spf(mail)),
  rule('dmarc', 6, ({ mail: { dmarc } }) => dmarcRecord(dmarc)),
  rule('dmarc_policy', 4, ({ mail: { dmarc } }) => dmarcPolicy(dmarc)),
  rule('dkim', 3, ({ mail: { dkim } }) => dkimKeys(dkim)),
  rule('mail_transport', 2, ({ records, mail: { mta_sts, tls_rpt } }) => {
    const mx = records['mx'] ?? []
    if (mx.every(({ value }) => NO_MAIL.test(value)) || mta_sts === null || tls_rpt === null) return undefined
    const lacking = [...(mta_sts ? [] : ['MTA-STS']), ...(tls_rpt ? [] : ['TLS reports (TLS-RPT)'])]
    return lacking.length === 0
      ? ['pass', 'MTA-STS and TLS reports are set up.']
      : ['warn', `Not set up: ${lacking.join(' and ')}.`]
  }),
]

function mailExchangers({ records, exchangers }: DnsFacts): Judged {
  const mx = records['mx']?.map(({ value }) => value)
  if (!mx) return undefined
  if (mx.length === 0) return ['warn', 'There is no MX record.']
  const nobody = mx.filter((value) => NO_MAIL.test(value))
  if (nobody.length === mx.length) return ['pass', 'The domain declares that it accepts no mail (RFC 7505).']
  const faults = exchangers.flatMap(exchangerFault)
  if (nobody.length > 0) faults.push('"." together with other hosts, which RFC 7505 forbids')
  if (faults.length > 0) return ['fail', 'Some mail hosts cannot be used.', faults.join(', ')]
  if (exchangers.some(({ addresses }) => addresses === null)) return undefined
  return ['pass', 'Every mail host has a public address.']
}

function exchangerFault({ name, addresses, alias }: HostFacts): string[] {
  if (alias) return [`${name} is an alias`]
  if (/^[\d.]+$|:/.test(name)) return [`${name} is an address, not a name`]
  if (addresses?.length === 0) return [`${name} has no address`]
  const inside = notPublic(addresses ?? [])
  return inside.length > 0 ? [`${name} is at ${inside.join(' and ')}, which is not public`] : []
}

function spf({ spf: records, check }: DnsFacts['mail']): Judged {
  const [record] = records ?? []
  if (records === null) return undefined
  if (record === undefined || !check) return ['fail', 'There is no SPF record.']
  if (records.length > 1)
    return ['fail', 'There is more than one SPF record, so receivers ignore all of them.', records.join(' | ')]
  const broken = spfFault(check)
  if (broken !== undefined) return ['fail', broken, record]
  return check.isWhole ? spfEnd(record) : undefined
}

/** What makes an SPF record invalid; undefined if the record is valid. */
function spfFault({ lookups, voids, errors }: SpfFacts): string | undefined {
  if (errors.length > 0) return `The SPF record is invalid: ${errors.join('; ')}.`
  if (lookups > MAX_SPF_LOOKUPS) return `The SPF record needs more than ${MAX_SPF_LOOKUPS} lookups, so it is invalid.`
  if (voids <= MAX_SPF_VOIDS) return undefined
  return `SPF makes ${voids} lookups without a result; more than ${MAX_SPF_VOIDS} make it invalid.`
}

function spfEnd(record: string): Judged {
  const { terms } = readSpf(record)
  const { name, qualifier } = terms.at(-1) ?? {}
  if (name === 'all' && qualifier === '+') return ['fail', 'SPF allows every sender (+all).', record]
  if (terms.some((term) => term.name === 'ptr')) {
    return ['warn', 'SPF uses ptr, which RFC 7208 (5.5) advises against.', record]
  }
  return name === 'redirect' || (name === 'all' && qualifier !== '?')
    ? ['pass', 'SPF limits who may send mail.', record]
    : ['warn', 'The SPF record ends without -all or ~all.', record]
}

function dmarcRecord(records: readonly string[] | null): Judged {
  const [record] = records ?? []
  if (records === null) return undefined
  if (record === undefined) return ['fail', 'There is no DMARC record.']
  if (records.length > 1)
    return ['fail', 'There is more than one DMARC record, so receivers ignore all of them.', records.join(' | ')]
  const { errors } = readDmarc(record)
  return errors.length === 0
    ? ['pass', 'There is a DMARC record.', record]
    : ['fail', `The DMARC record does not follow RFC 7489: ${errors.join('; ')}.`, record]
}

function dmarcPolicy(records: readonly string[] | null): Judged {
  const [record, ...more] = records ?? []
  if (record === undefined || more.length > 0) return undefined
  const { tags, errors } = readDmarc(record)
  const [policy = '', below] = [tags.get('p')?.toLowerCase(), tags.get('sp')?.toLowerCase()]
  if (errors.length > 0) return undefined
  if (policy === 'none') return ['warn', 'DMARC has no effect on forged mail (p=none).', record]
  if (below === 'none') return ['warn', 'DMARC has no effect on mail forged from subdomains (sp=none).', record]
  const percent = Number(tags.get('pct') ?? WHOLE_PERCENT)
  return percent < WHOLE_PERCENT
    ? ['warn', `The DMARC policy covers only ${percent} % of forged mail.`, record]
    : ['pass', 'DMARC asks receivers to quarantine or reject forged mail.', record]
}

/** Undecided without a key at a usual selector, because the domain may use another selector. */
function dkimKeys(keys: DnsFacts['mail']['dkim']): Judged {
  const shown = keys
    .map(({ selector, key, bits }) => `${selector}: ${key}${bits === null ? '' : ` ${bits}`}`)
    .join(', ')
  const rsa = keys.flatMap(({ bits }) => bits ?? [])
  if (keys.length === 0) return undefined
  if (keys.some(({ key }) => key === 'unreadable')) return ['fail', 'A DKIM key cannot be read.', shown]
  if (rsa.some((bits) => bits < WEAK_BITS)) return ['fail', 'A DKIM key is too short to be safe (RFC 8301).', shown]
  return rsa.some((bits) => bits < USUAL_BITS)
    ? ['warn', `A DKIM key has fewer than ${USUAL_BITS} bits.`, shown]
    : ['pass', 'DKIM keys are published.', shown]
}
