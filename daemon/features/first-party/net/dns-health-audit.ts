import type { Json } from '../../../../src/core/json.ts'
import { type Judged, judgeBy, type Rule, shownFindings } from '../service/findings.ts'
import { defineService } from '../service/service.ts'
import { type DnsFacts, dnsFacts, MAX_SPF_LOOKUPS } from './dns-facts.ts'
import { domainOf } from './domain.ts'

/** Records of a domain and of the mail for it, what is missing in them, and whether its name servers agree. */
export const dnsHealthAudit = defineService({
  slug: 'dns_health_audit',
  needs: ['dns'],
  isQuick: () => true,
  check: (input) => void domainOf(input),
  read: (input, ctx) => dnsFacts(domainOf(input), ctx),
  make(_, facts: DnsFacts): Json {
    const { score, findings, undecided } = judgeBy(facts.exists ? rules : [gone], facts)
    const { records, mail } = facts
    const shown = Object.entries(records).map(
      ([type, list]) => [type, list.map(({ value, ttl }) => ({ value, ttl }))] as const,
    )
    return {
      domain: facts.host,
      registrable_domain: facts.registrable,
      score,
      records: Object.fromEntries(shown),
      mail: { ...mail, spf: mail.spf[0] ?? null },
      dnssec: { signed: has(facts, 'ds'), validated_by: facts.validated ? 'resolver' : null },
      nameservers: facts.nameservers.map(({ names: _names, addresses, ...rest }) => ({
        ...rest,
        addresses: [...addresses],
      })),
      delegation: facts.delegation && [...facts.delegation],
      wildcard: facts.wildcard,
      ...shownFindings(findings),
      not_checked: [
        ...undecided,
        ...(facts.exists && facts.delegation === null ? ['whom the parent zone names'] : []),
        ...(mail.mta_sts ? ['the policy file of MTA-STS'] : []),
        ...facts.unanswered.map((asked) => `${asked}: no answer`),
        'DKIM, whose selectors are not public',
      ],
      checked_at: new Date(facts.at).toISOString(),
    }
  },
})

const gone: Rule<DnsFacts> = {
  id: 'exists',
  weight: 1,
  judge: ({ zone }) => ['fail', `${zone} does not exist.`],
}

function has({ records }: DnsFacts, type: string): boolean {
  return (records[type] ?? []).length > 0
}

function values({ records }: DnsFacts, type: string): string[] {
  return (records[type] ?? []).map(({ value }) => value)
}

/** Addresses count as one network by their first two numbers, or the first three groups of an IPv6 one. */
function networkOf(address: string): string {
  return address.includes(':') ? address.split(':').slice(0, 3).join(':') : address.split('.').slice(0, 2).join('.')
}

const MIN_NAME_SERVERS = 2
const HOUR_S = 3_600
const WEEK_S = 7 * 24 * HOUR_S
const SHORT_TTL_S = 60

const rules: readonly Rule<DnsFacts>[] = [
  {
    id: 'has_address',
    weight: 10,
    judge: (facts) =>
      has(facts, 'a') || has(facts, 'aaaa') || has(facts, 'cname')
        ? ['pass', 'The name has an address.']
        : ['fail', 'The name has neither an A nor an AAAA record.'],
  },
  {
    id: 'name_server_count',
    weight: 8,
    judge: ({ nameservers }) =>
      nameservers.length >= MIN_NAME_SERVERS
        ? ['pass', `${nameservers.length} name servers are named.`]
        : ['fail', `${nameservers.length} name server is named; ${MIN_NAME_SERVERS} are needed.`],
  },
  {
    id: 'name_server_networks',
    weight: 3,
    judge: ({ nameservers }) => {
      const networks = new Set(nameservers.flatMap(({ addresses }) => addresses.map(networkOf)))
      if (networks.size === 0) return undefined
      return networks.size > 1
        ? ['pass', 'The name servers stand in more than one network.']
        : ['warn', 'All name servers stand in one network.']
    },
  },
  { id: 'name_servers_agree', weight: 6, judge: (facts) => agreement(facts) },
  {
    id: 'serials_agree',
    weight: 4,
    judge: ({ nameservers }) => {
      // What a server that is not of the zone has kept of it is no version of it.
      const own = nameservers.filter(({ authoritative }) => authoritative)
      const serials = new Set(own.flatMap(({ serial }) => serial ?? []))
      if (serials.size === 0) return undefined
      return serials.size === 1
        ? ['pass', 'All name servers have the same version of the zone.']
        : [
            'warn',
            'The name servers have different versions of the zone.',
            own.map(({ name, serial }) => `${name} ${serial}`).join(', '),
          ]
    },
  },
  {
    id: 'no_lame_name_server',
    weight: 8,
    judge: ({ nameservers }) => {
      const lame = nameservers.filter(({ authoritative }) => !authoritative).map(({ name }) => name)
      if (nameservers.length === 0) return undefined
      return lame.length === 0
        ? ['pass', 'Every name server answers for the zone.']
        : ['fail', 'Name servers do not answer for the zone.', lame.join(', ')]
    },
  },
  {
    id: 'name_servers_over_tcp',
    weight: 2,
    judge: ({ nameservers }) => {
      const without = nameservers.filter(({ answered_udp, answered_tcp }) => answered_udp && !answered_tcp)
      if (!nameservers.some(({ answered_udp }) => answered_udp)) return undefined
      return without.length === 0
        ? ['pass', 'The name servers answer over TCP too.']
        : ['warn', 'Name servers do not answer over TCP.', without.map(({ name }) => name).join(', ')]
    },
  },
  {
    id: 'no_alias_at_apex',
    weight: 6,
    judge: (facts) =>
      facts.host === facts.zone && has(facts, 'cname')
        ? ['fail', 'The domain itself is an alias, which hides its other records.', values(facts, 'cname')[0]]
        : ['pass', 'The domain itself is no alias.'],
  },
  { id: 'soa_timers', weight: 3, judge: (facts) => soaTimers(values(facts, 'soa')[0]) },
  { id: 'mail_exchangers', weight: 6, judge: (facts) => mailExchangers(facts) },
  { id: 'spf', weight: 8, judge: ({ mail }) => spfFinding(mail) },
  {
    id: 'dmarc',
    weight: 6,
    judge: ({ mail: { dmarc } }) =>
      dmarc === null ? ['fail', 'There is no DMARC record.'] : ['pass', 'There is a DMARC record.', dmarc],
  },
  {
    id: 'dmarc_policy',
    weight: 4,
    judge: ({ mail: { dmarc } }) => {
      if (dmarc === null) return undefined
      return /;\s*p\s*=\s*(quarantine|reject)\b/i.test(dmarc)
        ? ['pass', 'DMARC asks for forged mail to be held back.']
        : ['warn', 'DMARC asks for nothing (p=none).', dmarc]
    },
  },
  {
    id: 'mail_transport',
    weight: 2,
    judge: (facts) => {
      if (!has(facts, 'mx')) return undefined
      const { mta_sts, tls_rpt } = facts.mail
      const lacking = [...(mta_sts ? [] : ['MTA-STS']), ...(tls_rpt ? [] : ['TLS reports (TLS-RPT)'])]
      return lacking.length === 0
        ? ['pass', 'MTA-STS and TLS reports are set up.']
        : ['warn', `Not set up: ${lacking.join(' and ')}.`]
    },
  },
  {
    id: 'caa',
    weight: 4,
    judge: (facts) =>
      has(facts, 'caa')
        ? ['pass', 'CAA records say who may issue certificates.', values(facts, 'caa').join(', ')]
        : ['warn', 'No CAA record says who may issue certificates.'],
  },
  { id: 'dnssec', weight: 8, judge: (facts) => dnssec(facts) },
  {
    id: 'ipv6',
    weight: 3,
    judge: (facts) =>
      has(facts, 'aaaa') || has(facts, 'cname')
        ? ['pass', 'The name can be reached over IPv6.']
        : ['warn', 'The name has no AAAA record.'],
  },
  {
    id: 'ttl',
    weight: 2,
    judge: ({ records }) => {
      const ttls = [...(records['a'] ?? []), ...(records['aaaa'] ?? [])].map(({ ttl }) => ttl)
      if (ttls.length === 0) return undefined
      const least = Math.min(...ttls)
      // What a resolver has kept counts down, so a short one says little.
      return least < SHORT_TTL_S
        ? ['warn', `Addresses are kept for ${least} s only.`]
        : ['pass', 'Addresses may be kept for a while.']
    },
  },
  {
    id: 'no_dangling_alias',
    weight: 8,
    judge: ({ dangling }) =>
      dangling.length === 0
        ? ['pass', 'No alias points to a name that is gone.']
        : [
            'fail',
            'An alias points to a name that does not exist: whoever registers it gets the visitors.',
            dangling.join(', '),
          ],
  },
]

/** The parent zone and every server of the zone should name the same servers. */
function agreement({ nameservers, delegation }: DnsFacts): Judged {
  const said = nameservers.filter(({ names, authoritative }) => authoritative && names.length > 0)
  const [first, ...rest] = said
  if (!first) return undefined
  const setOf = (names: readonly string[]) => names.join(' ')
  const other = rest.find(({ names }) => setOf(names) !== setOf(first.names))
  const told = ({ name, names }: Named) => `${name} names ${names.join(', ')}`
  if (other) return ['fail', 'The name servers disagree on who serves the zone.', `${told(first)}; ${told(other)}`]
  if (delegation && setOf(delegation) !== setOf(first.names)) {
    const evidence = `${told({ name: 'the parent', names: delegation })}; ${told({ name: 'the zone', names: first.names })}`
    return ['fail', 'The parent zone names other name servers than the zone itself.', evidence]
  }
  return ['pass', delegation ? 'The parent zone and the name servers agree.' : 'The name servers name each other.']
}

type Named = { readonly name: string; readonly names: readonly string[] }

function soaTimers(soa: string | undefined): Judged {
  const [, , , refresh = 0, retry = 0, expire = 0] = (soa ?? '').split(' ').map(Number)
  if (soa === undefined) return ['fail', 'There is no SOA record.']
  const isSane = retry <= refresh && expire >= WEEK_S && expire > refresh && refresh >= HOUR_S / 3
  return isSane ? ['pass', 'The timers of the zone are sane.'] : ['warn', 'The timers of the zone are unusual.', soa]
}

function mailExchangers(facts: DnsFacts): Judged {
  const mx = values(facts, 'mx')
  if (mx.length === 0) return ['warn', 'No MX record says who takes mail.']
  if (mx.every((value) => /^\d+ \.?$/.test(value))) return ['pass', 'The domain says that it takes no mail (RFC 7505).']
  const bad = facts.exchangers.filter(({ resolves, alias }) => !resolves || alias)
  if (bad.length === 0) return ['pass', 'Every host that takes mail has an address.']
  const names = bad.map(({ name, alias }) => `${name}${alias ? ' is an alias' : ' has no address'}`)
  return ['fail', 'Hosts that take mail cannot be used.', names.join(', ')]
}

function spfFinding({ spf, lookups }: DnsFacts['mail']): Judged {
  const [record] = spf
  if (record === undefined) return ['fail', 'There is no SPF record.']
  if (spf.length > 1) return ['fail', 'There is more than one SPF record, so none counts.', spf.join(' | ')]
  if ((lookups ?? 0) > MAX_SPF_LOOKUPS)
    return ['fail', `SPF needs more than ${MAX_SPF_LOOKUPS} lookups, so it counts as broken.`, record]
  if (/\s\+?all\b/i.test(record)) return ['fail', 'SPF allows everybody.', record]
  return /[~-]all\b|redirect=/i.test(record)
    ? ['pass', 'SPF says who may send mail.', record]
    : ['warn', 'SPF ends without -all or ~all.', record]
}

function dnssec(facts: DnsFacts): Judged {
  const isSigned = has(facts, 'ds')
  if (!isSigned)
    return [
      'warn',
      has(facts, 'dnskey') ? 'The zone is signed, but its parent does not say so (no DS).' : 'The zone is not signed.',
    ]
  return facts.validated
    ? ['pass', 'The zone is signed, and the resolver validated it.']
    : ['fail', 'The parent says that the zone is signed, but the resolver did not validate it.']
}
