import type { DnsAnswer, DnsRecord, RecordType } from '../../../ports/dns/message.ts'
import { reachOf } from '../../../ports/web/target.ts'

/** Asks a resolver; undefined without a usable response, which does not mean that there are no records. */
export type Ask = (name: string, type: RecordType) => Promise<DnsAnswer | undefined>

export type HostFacts = Awaited<ReturnType<typeof hostOf>>

export function ofType(answer: DnsAnswer | undefined, type: RecordType): DnsRecord[] {
  return (answer?.records ?? []).filter((record) => record.type === type)
}

/** Null: no response. */
export async function textsAt(ask: Ask, name: string): Promise<string[] | null> {
  const answer = await ask(name, 'TXT')
  return answer ? ofType(answer, 'TXT').map(({ value }) => value) : null
}

/** Addresses of a host. Null: no response. */
export async function hostOf(ask: Ask, name: string) {
  const [v4, v6, alias] = await Promise.all([ask(name, 'A'), ask(name, 'AAAA'), ask(name, 'CNAME')])
  const addresses = [...ofType(v4, 'A'), ...ofType(v6, 'AAAA')].map(({ value }) => value)
  const isSaid = addresses.length > 0 || (v4 !== undefined && v6 !== undefined)
  return { name, addresses: isSaid ? addresses : null, alias: ofType(alias, 'CNAME').length > 0 }
}

/** Addresses that cannot be reached from the internet. */
export function notPublic(addresses: readonly string[]): string[] {
  return addresses.filter((address) => reachOf(address) !== 'public')
}
