import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type NameServer, openNameServer, type Zone } from '../../../ports/dns/dns.testkit.ts'
import { openDns } from '../../../ports/dns/dns.ts'
import { openRdap } from '../../../ports/upstream/rdap.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered, deliversItsSchema } from '../delivers.testkit.ts'
import { dnsHealthAudit } from './dns-health-audit.ts'
import { domainAvailability } from './domain-availability.ts'

const AT = Date.parse('2026-06-01T00:00:00Z')
const soa = (serial = 7) => [
  {
    data: {
      mname: 'ns1.site.test',
      rname: 'hostmaster.site.test',
      serial,
      refresh: 7_200,
      retry: 900,
      expire: 1_209_600,
      minimum: 300,
    },
  },
]
const txt = (...texts: string[]) => texts.map((text) => ({ data: [text] }))

/** A zone without a fault; both name servers are the one of the test. */
const good = (): Zone => ({
  'A site.test': [{ data: '127.0.0.1' }],
  'AAAA site.test': [{ data: '2001:db8::1' }],
  'NS site.test': [{ data: 'ns1.site.test' }, { data: 'ns2.site.test' }],
  'SOA site.test': soa(),
  'A ns1.site.test': [{ data: '127.0.0.1' }],
  'A ns2.site.test': [{ data: '127.0.0.1' }],
  'AAAA ns2.site.test': [{ data: '2001:db8::5' }],
  'MX site.test': [{ data: { preference: 10, exchange: 'mail.site.test' } }],
  'A mail.site.test': [{ data: '127.0.0.1' }],
  'TXT site.test': txt('v=spf1 mx -all'),
  'TXT _dmarc.site.test': txt('v=DMARC1; p=reject'),
  'TXT _mta-sts.site.test': txt('v=STSv1; id=1'),
  'TXT _smtp._tls.site.test': txt('v=TLSRPTv1; rua=mailto:a@site.test'),
  'CAA site.test': [{ data: { flags: 0, tag: 'issue', value: 'ca.test' } }],
  'DS site.test': [{ data: { keyTag: 1, algorithm: 13, digestType: 2, digest: Buffer.alloc(32) } }],
})

let names: NameServer
let site: Site
beforeAll(async () => {
  names = await openNameServer()
  site = await openSite()
})
beforeEach(() => {
  for (const key of Object.keys(names.zone)) delete names.zone[key]
  site.clear()
  Object.assign(names.say, { authenticated: true, tcp: true })
})
afterAll(async () => {
  await names.close()
  await site.close()
})

const engines = () => ({
  dns: openDns({ servers: [names.server], mayAsk: (address) => address.startsWith('127.'), zonePort: names.port }),
  rdap: openRdap({ web: site.web(), wall: () => AT, bootstrap: site.at('/dns.json') }),
})

async function audit(change: Zone = {}) {
  Object.assign(names.zone, good(), change)
  const result = await delivered({
    service: dnsHealthAudit,
    input: { domain: 'Site.TEST' },
    means: { engines: engines(), now: () => AT },
  })
  const failed = result.findings.filter(({ status }: { status: string }) => status !== 'pass')
  return { result, failed: failed.map(({ id }: { id: string }) => id).sort() }
}

describe('the health of DNS', () => {
  it('of a good zone is whole', async () => {
    const { result, failed } = await audit()
    expect(failed).toEqual([])
    expect(result).toMatchObject({
      domain: 'site.test',
      score: 100,
      mail: { lookups: 1 },
      dnssec: { signed: true, validated_by: 'resolver' },
    })
    expect(result.records.mx).toEqual([{ value: '10 mail.site.test', ttl: 3600 }])
  })

  it.each<[string, Zone, string[]]>([
    ['has_address', { 'A site.test': [], 'AAAA site.test': [] }, ['has_address', 'ipv6']],
    [
      'name_server_count',
      { 'NS site.test': [{ data: 'ns1.site.test' }] },
      ['name_server_count', 'name_server_networks'],
    ],
    [
      'no_lame_name_server',
      { 'A ns2.site.test': [{ data: '10.0.0.1' }], 'AAAA ns2.site.test': [] },
      ['no_lame_name_server'],
    ],
    ['soa_timers', { 'SOA site.test': [{ data: { ...soa()[0]?.data, expire: 60 } }] }, ['soa_timers']],
    [
      'mail_exchangers',
      { 'A mail.site.test': [], 'CNAME mail.site.test': [{ data: 'elsewhere.test' }] },
      ['mail_exchangers'],
    ],
    ['two SPF records', { 'TXT site.test': txt('v=spf1 -all', 'v=spf1 mx -all') }, ['spf']],
    ['SPF for everybody', { 'TXT site.test': txt('v=spf1 +all') }, ['spf']],
    ['SPF that includes itself', { 'TXT site.test': txt('v=spf1 include:site.test -all') }, ['spf']],
    ['no DMARC', { 'TXT _dmarc.site.test': undefined }, ['dmarc']],
    ['DMARC that asks for nothing', { 'TXT _dmarc.site.test': txt('v=DMARC1; p=none') }, ['dmarc_policy']],
    ['no CAA', { 'CAA site.test': undefined }, ['caa']],
    ['no DS', { 'DS site.test': undefined }, ['dnssec']],
    ['a dangling alias', { 'CNAME www.site.test': [{ data: 'gone.example' }] }, ['no_dangling_alias']],
    ['short lives', { 'A site.test': [{ data: '127.0.0.1', ttl: 5 }] }, ['ttl']],
  ])('finds %s, and nothing else', async (_, change, faults) => {
    expect((await audit(change)).failed).toEqual(faults)
  })

  it('tells a signed zone that does not validate from an unsigned one', async () => {
    names.say.authenticated = false
    const { result } = await audit()
    expect(result.findings[0]).toMatchObject({ id: 'dnssec', status: 'fail' })
  })

  it('takes a domain that says it has no mail at its word', async () => {
    const { failed } = await audit({ 'MX site.test': [{ data: { preference: 0, exchange: '' } }] })
    expect(failed).toEqual([])
  })

  it('of a domain that is not there is one finding, and of silence a failure', async () => {
    const signal = new AbortController().signal
    const gone = await dnsHealthAudit.run({ domain: 'nowhere.test' }, signal, { engines: engines(), now: () => AT })
    expect(gone).toMatchObject({ score: 0, findings: [{ id: 'exists' }] })
    names.zone['SOA mute.test'] = 'silent'
    const silence = dnsHealthAudit.run({ domain: 'mute.test' }, signal, { engines: engines(), now: () => AT })
    await expect(silence).rejects.toMatchObject({ code: 'provider_failed' })
  })
})

describe('whether a domain is free', () => {
  const run = (domain: string) =>
    domainAvailability.run({ domain }, new AbortController().signal, { engines: engines(), now: () => AT })
  const bootstrap = () => {
    site.pages['/dns.json'] = { body: JSON.stringify({ services: [[['test'], [site.at('/rdap/')]]] }) }
  }

  it('is read from the registry of its ending', async () => {
    bootstrap()
    site.pages['/rdap/domain/taken.test'] = {
      body: JSON.stringify({
        status: ['active'],
        events: [{ eventAction: 'expiration', eventDate: '2027-01-01T00:00:00Z' }],
        entities: [{ roles: ['registrar'], vcardArray: ['vcard', [['fn', {}, 'text', 'Duck Names']]] }],
        nameservers: [{ ldhName: 'NS1.TAKEN.TEST' }],
      }),
    }
    const taken = await run('https://www.taken.test/page')
    expect(taken).toMatchObject({
      registrable_domain: 'taken.test',
      available: false,
      registrar: 'Duck Names',
      expires_at: '2027-01-01T00:00:00Z',
      nameservers: ['ns1.taken.test'],
      confidence: 'high',
      engine: { kind: 'upstream' },
    })
    deliversItsSchema('domain_availability', taken)
    expect(await run('free.test')).toMatchObject({ available: true, confidence: 'high', method: 'rdap+dns' })
  })

  it('is doubted where name servers answer for what the registry does not know', async () => {
    bootstrap()
    names.zone['NS odd.test'] = [{ data: 'ns.odd.test' }]
    expect(await run('odd.test')).toMatchObject({ available: false, confidence: 'low' })
  })

  it.each([
    ['a registry that is busy', { status: 429 }],
    ['one that fails', { status: 500 }],
    ['one that answers junk', { body: '<html>' }],
    ['one that answers something else', { body: '{"status": "free"}' }],
  ])('is never said by %s', async (_, page) => {
    bootstrap()
    site.pages['/rdap/domain/duck.test'] = page
    await expect(run('duck.test')).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it('cannot be told of an ending without a registry, or of an ending itself', async () => {
    bootstrap()
    await expect(run('duck.zz')).rejects.toMatchObject({ code: 'input_invalid', details: [{ path: 'domain' }] })
    expect(() => domainAvailability.check({ domain: 'co.uk' })).toThrow(/ending/)
  })
})
