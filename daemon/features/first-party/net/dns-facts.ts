import { AppError } from '../../../../src/core/error.ts'
import { type DnsAnswer, DnsError, type DnsRecord, type RecordType } from '../../../ports/dns/message.ts'
import type { ServiceCtx } from '../service/service.ts'
import { type Ask, type HostFacts, hostOf, ofType } from './dns-ask.ts'
import type { Domain } from './domain.ts'
import { type MailFacts, mailOf } from './mail-facts.ts'

export type NameServerFacts = {
  readonly name: string
  readonly addresses: readonly string[]
  /** Whether the server's name is an alias, which RFC 2181 (10.3) forbids. */
  readonly alias: boolean
  readonly answered_udp: boolean
  readonly answered_tcp: boolean
  readonly authoritative: boolean
  readonly serial: string | null
  /** NS records that the server returns, sorted. */
  readonly names: readonly string[]
}

export type DnsFacts = Domain & {
  readonly zone: string
  readonly at: number
  readonly exists: boolean
  /** Records by type, in lower case; a type without a response is missing. */
  readonly records: Readonly<Record<string, readonly DnsRecord[]>>
  readonly mail: MailFacts
  /** Mail hosts. */
  readonly exchangers: readonly HostFacts[]
  readonly nameservers: readonly NameServerFacts[]
  /** Name servers that the parent zone lists, sorted; null if it did not respond. */
  readonly delegation: readonly string[] | null
  readonly validated: boolean
  /** Alias targets that do not exist. */
  readonly dangling: readonly string[]
  readonly wildcard: boolean
  /** Queries without a usable response, such as `MX example.com (SERVFAIL)`. */
  readonly unanswered: readonly string[]
}

const MAX_NAME_SERVERS = 8
const MAX_EXCHANGERS = 8
/** A name that resolves only if the zone has a wildcard record. */
const NOBODY = 'nobody-has-this-name-7f3a'

type Ctx = ServiceCtx<'dns'>
/** Looks up the DNS and mail facts of a domain. @throws AppError provider_failed without a usable SOA response */
export async function dnsFacts(domain: Domain, ctx: Ctx): Promise<DnsFacts> {
  const zone = domain.registrable ?? domain.host
  const unanswered = new Set<string>()
  const ask: Ask = async (name, type) => {
    try {
      const answer = await ctx.engines.dns.ask({ name, type }, ctx.signal)
      // Other response codes do not mean "no records".
      if (answer.rcode === 'NOERROR' || answer.rcode === 'NXDOMAIN') return answer
      unanswered.add(`${type} ${name} (${answer.rcode})`)
      return undefined
    } catch (error) {
      if (!(error instanceof DnsError) || ctx.signal.aborted) throw error
      unanswered.add(`${type} ${name}`)
      return undefined
    }
  }
  const soa = await ask(zone, 'SOA')
  if (!soa) throw new AppError('provider_failed', `No resolver gave a usable answer: ${[...unanswered].join(', ')}.`)
  const parent = zone.replace(/^[^.]*\./, '')
  if (soa.rcode === 'NXDOMAIN' && (await ask(parent, 'SOA'))?.rcode !== 'NOERROR')
    throw new AppError('provider_failed', `The resolver knows nothing below ${parent}.`)
  const [records, mail, [wildcard, dangling]] = await Promise.all([
    recordsOf(ask, { host: domain.host, zone }),
    mailOf(ask, zone),
    Promise.all([ask(`${NOBODY}.${zone}`, 'A'), danglingOf(ask, domain.host)]),
  ])
  const valuesOf = (type: string) => (records[type] ?? []).map(({ value }) => value)
  const delegation = soa.rcode === 'NXDOMAIN' ? null : await delegationOf(ctx, { ask, zone })
  const names = [...new Set([...valuesOf('ns'), ...(delegation ?? [])])].sort()
  const [exchangers, nameservers] = await Promise.all([
    exchangersOf(ask, valuesOf('mx')),
    nameServersOf(ctx, { ask, zone, names }),
  ])
  return {
    ...domain,
    zone,
    at: ctx.now(),
    exists: soa.rcode !== 'NXDOMAIN',
    records: { ...records, soa: ofType(soa, 'SOA') },
    mail,
    exchangers,
    nameservers,
    delegation,
    validated: soa.authenticated,
    dangling,
    wildcard: ofType(wildcard, 'A').length > 0,
    unanswered: [...unanswered].sort(),
  }
}

async function recordsOf(ask: Ask, { host, zone }: { host: string; zone: string }): Promise<DnsFacts['records']> {
  const wanted = [
    [host, ['A', 'AAAA', 'CNAME', 'TXT']],
    [zone, ['NS', 'MX', 'CAA', 'DS', 'DNSKEY']],
  ] as const
  const asked = wanted.flatMap(([name, types]) =>
    types.map(async (type) => {
      const answer = await ask(name, type)
      return answer ? [[type.toLowerCase(), ofType(answer, type)] as const] : []
    }),
  )
  return Object.fromEntries((await Promise.all(asked)).flat())
}

/** Alias targets that do not exist; anybody could register such a name. */
async function danglingOf(ask: Ask, host: string): Promise<string[]> {
  const names = host.startsWith('www.') ? [host] : [host, `www.${host}`]
  const targets = await Promise.all(
    names.map(async (name) => ofType(await ask(name, 'CNAME'), 'CNAME').map(({ value }) => value)),
  )
  const gone = targets.flat().map(async (target) => ((await ask(target, 'A'))?.rcode === 'NXDOMAIN' ? [target] : []))
  return (await Promise.all(gone)).flat()
}

async function exchangersOf(ask: Ask, values: readonly string[]): Promise<HostFacts[]> {
  const names = values.map((value) => value.split(' ')[1] ?? '').filter((name) => name !== '' && name !== '.')
  return Promise.all(names.slice(0, MAX_EXCHANGERS).map((name) => hostOf(ask, name)))
}

/** Number of parent servers that are tried, one after another. */
const MAX_PARENT_SERVERS = 3

/**
 * Name servers to which the parent zone delegates; they may differ from the zone's own records. Null if the parent's
 * servers do not respond, or also serve the zone.
 */
async function delegationOf(ctx: Ctx, { ask, zone }: Pick<Zone, 'ask' | 'zone'>): Promise<string[] | null> {
  for (const server of await parentServersOf(ask, zone)) {
    const [address] = ofType(await ask(server, 'A'), 'A')
    const answer = await askedOf(ctx, { zone, address: address?.value, type: 'NS', over: 'udp' })
    const named = (answer?.authority ?? []).filter((one) => one.type === 'NS' && one.name === zone)
    if (named.length > 0) return named.map(({ value }) => value).toSorted()
  }
  return null
}

async function parentServersOf(ask: Ask, zone: string): Promise<string[]> {
  const labels = zone.split('.')
  for (let at = 1; at < labels.length; at += 1) {
    const parent = labels.slice(at).join('.')
    const servers = ofType(await ask(parent, 'NS'), 'NS').filter(({ name }) => name === parent)
    if (servers.length > 0) return servers.map(({ value }) => value).slice(0, MAX_PARENT_SERVERS)
  }
  return []
}

type Zone = { readonly ask: Ask; readonly zone: string; readonly names: readonly string[] }

function nameServersOf(ctx: Ctx, { ask, zone, names }: Zone): Promise<NameServerFacts[]> {
  return Promise.all(
    names.slice(0, MAX_NAME_SERVERS).map(async (name) => {
      const host = await hostOf(ask, name)
      const addresses = host.addresses ?? []
      return { ...host, addresses, ...(await toldBy(ctx, zone, addresses[0])) }
    }),
  )
}

type Asked = {
  readonly zone: string
  readonly address: string | undefined
  readonly type: RecordType
  readonly over: 'udp' | 'tcp'
}

/** Undefined if the server does not respond or must not be asked. */
async function askedOf({ engines, signal }: Ctx, { zone, address, type, over }: Asked): Promise<DnsAnswer | undefined> {
  if (address === undefined) return undefined
  try {
    return await engines.dns.askServer(address, { name: zone, type }, { over, signal })
  } catch (error) {
    if (!(error instanceof DnsError) || signal.aborted) throw error
    return undefined
  }
}

async function toldBy(ctx: Ctx, zone: string, address: string | undefined) {
  const told = (type: RecordType, over: 'udp' | 'tcp') => askedOf(ctx, { zone, address, type, over })
  const [soa, names, overTcp] = await Promise.all([told('SOA', 'udp'), told('NS', 'udp'), told('SOA', 'tcp')])
  return {
    answered_udp: soa !== undefined,
    answered_tcp: overTcp !== undefined,
    authoritative: soa?.authoritative === true && ofType(soa, 'SOA').length > 0,
    serial: ofType(soa, 'SOA')[0]?.value.split(' ')[2] ?? null,
    names: ofType(names, 'NS')
      .map(({ value }) => value)
      .toSorted(),
  }
}
