import type { Json } from '../../../../src/core/json.ts'
import { type Judged, judgeBy, none, type Rule, rule, shownFindings } from '../service/findings.ts'
import { defineService } from '../service/service.ts'
import { notPublic } from './dns-ask.ts'
import { type DnsFacts, dnsFacts } from './dns-facts.ts'
import { domainOf } from './domain.ts'
import { usualSelectors } from './mail-facts.ts'
import { mailRules } from './mail-rules.ts'

/** DNS and mail records of a domain, their faults, and whether its name servers agree. */
export const dnsHealthAudit = defineService({
  slug: 'dns_health_audit',
  needs: ['dns'],
  isQuick: () => true,
  check: (input) => void domainOf(input),
  read: (input, ctx) => dnsFacts(domainOf(input), ctx),
  make(_, facts: DnsFacts): Json {
    const { score, findings, undecided } = judgeBy(facts.exists ? [...rules, ...mailRules] : [gone], facts)
    const { records, mail } = facts
    const shown = Object.entries(records).map(
      ([type, list]) => [type, list.map(({ value, ttl }) => ({ value, ttl }))] as const,
    )
    return {
      domain: facts.host,
      registrable_domain: facts.registrable,
      score,
      records: Object.fromEntries(shown),
      mail: {
        spf: mail.spf?.[0] ?? null,
        lookups: mail.check?.lookups ?? null,
        void_lookups: mail.check?.voids ?? null,
        dmarc: mail.dmarc?.[0] ?? null,
        dkim: mail.dkim.map((key) => ({ ...key })),
        mta_sts: mail.mta_sts,
        tls_rpt: mail.tls_rpt,
      },
      dnssec: { signed: has(facts, 'ds') ?? null, validated_by: facts.validated ? 'resolver' : null },
      nameservers: facts.nameservers.map(({ names: _names, addresses, ...rest }) => ({
        ...rest,
        addresses: [...addresses],
      })),
      delegation: facts.delegation && [...facts.delegation],
      wildcard: facts.wildcard,
      ...shownFindings(findings),
      not_checked: [
        ...undecided,
        ...(facts.exists && facts.delegation === null ? ["the parent zone's delegation"] : []),
        ...(mail.mta_sts ? ['the MTA-STS policy file'] : []),
        ...(mail.dmarc?.length ? ['whether hosts elsewhere accept its DMARC reports (RFC 7489, 7.1)'] : []),
        ...facts.unanswered.map((asked) => `${asked}: no answer`),
        `DKIM selectors other than ${usualSelectors.join(', ')} (DNS has no list of them)`,
      ],
      checked_at: new Date(facts.at).toISOString(),
    }
  },
})

const gone: Rule<DnsFacts> = rule('exists', 1, ({ zone }) => ['fail', `${zone} does not exist.`])

/** Undefined: no response. */
function has({ records }: DnsFacts, type: string): boolean | undefined {
  const list = records[type]
  return list && list.length > 0
}

function values({ records }: DnsFacts, type: string): string[] {
  return (records[type] ?? []).map(({ value }) => value)
}

/** Network of an address: the first three numbers of IPv4 (/24), or the first three groups of IPv6. */
function networkOf(address: string): string {
  return address.includes(':') ? address.split(':').slice(0, 3).join(':') : address.split('.').slice(0, 3).join('.')
}

const MIN_NAME_SERVERS = 2
const HOUR_S = 3_600
const WEEK_S = 7 * 24 * HOUR_S
const SHORT_TTL_S = 60

const rules: readonly Rule<DnsFacts>[] = [
  rule('has_address', 10, (facts) => {
    const found = ['a', 'aaaa', 'cname'].map((type) => has(facts, type))
    if (found.includes(true)) return ['pass', 'The name has an address.']
    return found.includes(undefined) ? undefined : ['fail', 'The name has neither an A nor an AAAA record.']
  }),
  rule('public_addresses', 8, (facts) => {
    const addresses = [...values(facts, 'a'), ...values(facts, 'aaaa')]
    const inside = notPublic(addresses)
    if (addresses.length === 0) return undefined
    const bad = ['fail', 'Private or reserved addresses are unreachable from the internet.'] as const
    return none(inside, 'All addresses are public.', bad)
  }),
  rule('name_server_count', 8, (facts) => {
    const { length } = facts.nameservers
    if (length >= MIN_NAME_SERVERS) return ['pass', `The zone has ${length} name servers.`]
    if (has(facts, 'ns') === undefined) return undefined
    return ['fail', `The zone has ${length} name server; it needs at least ${MIN_NAME_SERVERS}.`]
  }),
  rule('name_servers_no_alias', 6, ({ nameservers }) => {
    const aliases = nameservers.filter(({ alias }) => alias).map(({ name }) => name)
    if (nameservers.length === 0) return undefined
    const bad = ['fail', 'Some name servers are aliases (CNAME), which RFC 2181 (10.3) forbids.'] as const
    return none(aliases, 'No name server is an alias.', bad)
  }),
  rule('name_server_networks', 3, ({ nameservers }) => {
    const networks = new Set(nameservers.flatMap(({ addresses }) => addresses.map(networkOf)))
    if (networks.size === 0) return undefined
    return networks.size > 1
      ? ['pass', 'The name servers are in different networks.']
      : ['warn', 'All name servers are in the same network.']
  }),
  rule('name_servers_agree', 6, (facts) => agreement(facts)),
  rule('serials_agree', 4, ({ nameservers }) => {
    // A server that is not authoritative has only a cached copy.
    const own = nameservers.filter(({ authoritative }) => authoritative)
    const serials = new Set(own.flatMap(({ serial }) => serial ?? []))
    if (serials.size === 0) return undefined
    return serials.size === 1
      ? ['pass', 'All authoritative name servers have the same version of the zone.']
      : [
          'warn',
          'The name servers have different versions of the zone.',
          own.map(({ name, serial }) => `${name} ${serial}`).join(', '),
        ]
  }),
  rule('no_lame_name_server', 8, ({ nameservers }) => {
    const lame = nameservers.filter(({ authoritative }) => !authoritative).map(({ name }) => name)
    if (nameservers.length === 0) return undefined
    const bad = ['fail', 'Some name servers are not authoritative for the zone.'] as const
    return none(lame, 'Every name server is authoritative for the zone.', bad)
  }),
  rule('name_servers_over_tcp', 2, ({ nameservers }) => {
    const heard = nameservers.filter(({ answered_udp }) => answered_udp)
    const without = heard.filter(({ answered_tcp }) => !answered_tcp).map(({ name }) => name)
    if (heard.length === 0) return undefined
    return none(without, 'All name servers that answer do so over TCP too.', [
      'warn',
      'Some name servers do not answer over TCP.',
    ])
  }),
  rule('no_alias_at_apex', 6, (facts) => {
    if (facts.host === facts.zone && has(facts, 'cname') === undefined) return undefined
    return facts.host === facts.zone && has(facts, 'cname')
      ? ['fail', 'The domain itself is an alias (CNAME), which hides its other records.', values(facts, 'cname')[0]]
      : ['pass', 'The domain itself is not an alias.']
  }),
  rule('soa_timers', 3, (facts) => soaTimers(values(facts, 'soa')[0])),
  rule('caa', 4, (facts) => {
    if (has(facts, 'caa') === undefined) return undefined
    return has(facts, 'caa')
      ? ['pass', 'CAA records limit who may issue certificates.', values(facts, 'caa').join(', ')]
      : ['warn', 'No CAA record limits who may issue certificates.']
  }),
  rule('dnssec', 8, (facts) => dnssec(facts)),
  rule('ipv6', 3, (facts) => {
    if (has(facts, 'aaaa') || has(facts, 'cname')) return ['pass', 'The name has an AAAA record (IPv6).']
    return has(facts, 'aaaa') === undefined ? undefined : ['warn', 'The name has no AAAA record (IPv6).']
  }),
  rule('ttl', 2, ({ records }) => {
    const ttls = [...(records['a'] ?? []), ...(records['aaaa'] ?? [])].map(({ ttl }) => ttl)
    if (ttls.length === 0) return undefined
    const least = Math.min(...ttls)
    // The TTL of a cached record counts down, so a short TTL may not be the configured one.
    return least < SHORT_TTL_S
      ? ['warn', `Addresses have a short TTL: ${least} s.`]
      : ['pass', 'The TTL of the addresses is long enough.']
  }),
  rule('no_dangling_alias', 8, ({ dangling }) => {
    const bad = 'An alias points to a missing name: whoever registers that name can take over the traffic.'
    return none(dangling, 'No alias points to a missing name.', ['fail', bad])
  }),
]

/** Judges whether the parent and the zone name the same servers. */
function agreement({ nameservers, delegation }: DnsFacts): Judged {
  const said = nameservers.filter(({ names, authoritative }) => authoritative && names.length > 0)
  const [first, ...rest] = said
  if (!first) return undefined
  const setOf = (names: readonly string[]) => names.join(' ')
  const other = rest.find(({ names }) => setOf(names) !== setOf(first.names))
  const told = ({ name, names }: Named) => `${name} lists ${names.join(', ')}`
  if (other) return ['fail', 'The name servers return different NS records.', `${told(first)}; ${told(other)}`]
  if (delegation && setOf(delegation) !== setOf(first.names)) {
    const evidence = `${told({ name: 'the parent', names: delegation })}; ${told({ name: 'the zone', names: first.names })}`
    return ['fail', 'The parent zone and the zone itself list different name servers.', evidence]
  }
  return [
    'pass',
    delegation
      ? 'The parent zone and the zone list the same name servers.'
      : 'The authoritative name servers return the same NS records.',
  ]
}

type Named = { readonly name: string; readonly names: readonly string[] }

function soaTimers(soa: string | undefined): Judged {
  const [, , , refresh = 0, retry = 0, expire = 0] = (soa ?? '').split(' ').map(Number)
  if (soa === undefined) return ['fail', 'There is no SOA record.']
  const isSane = retry <= refresh && expire >= WEEK_S && expire > refresh && refresh >= HOUR_S / 3
  return isSane
    ? ['pass', 'The SOA timers are in the usual range.']
    : ['warn', 'The SOA timers are outside the usual range.', soa]
}

function dnssec(facts: DnsFacts): Judged {
  const isSigned = has(facts, 'ds')
  if (isSigned === undefined) return undefined
  if (!isSigned)
    return [
      'warn',
      has(facts, 'dnskey') ? 'The zone is signed, but its parent has no DS record.' : 'The zone is not signed.',
    ]
  return facts.validated
    ? ['pass', 'The zone is signed, and the resolver validated it.']
    : ['fail', 'The parent has a DS record, but the resolver did not validate the zone.']
}
