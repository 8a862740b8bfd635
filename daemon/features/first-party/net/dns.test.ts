import { generateKeyPairSync } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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
/** Strings of a text are at most 255 bytes long (RFC 1035, 3.3.14). */
const txt = (...texts: string[]) => texts.map((text) => ({ data: text.match(/.{1,255}/gs) ?? [''] }))

/** A zone without a fault; both name servers are the one of the test. */
const good = (): Zone => ({
  'A site.test': [{ data: '93.184.216.34' }],
  'AAAA site.test': [{ data: '2606:2800:21f::1' }],
  'NS site.test': [{ data: 'ns1.site.test' }, { data: 'ns2.site.test' }],
  'SOA site.test': soa(),
  'A ns1.site.test': [{ data: '127.0.0.1' }],
  'A ns2.site.test': [{ data: '127.0.0.1' }],
  'AAAA ns2.site.test': [{ data: '2001:db8::5' }],
  'MX site.test': [{ data: { preference: 10, exchange: 'mail.site.test' } }],
  'A mail.site.test': [{ data: '93.184.216.35' }],
  'TXT site.test': txt('v=spf1 mx -all'),
  'TXT _dmarc.site.test': txt('v=DMARC1; p=reject'),
  'TXT _mta-sts.site.test': txt('v=STSv1; id=1'),
  'TXT _smtp._tls.site.test': txt('v=TLSRPTv1; rua=mailto:a@site.test'),
  'CAA site.test': [{ data: { flags: 0, tag: 'issue', value: 'ca.test' } }],
  'DS site.test': [{ data: { keyTag: 1, algorithm: 13, digestType: 2, digest: Buffer.alloc(32) } }],
})

/** So many lookups: the record's own, and one in each record that it includes. */
const spfOf = (lookups: number): Zone => {
  const included = Array.from({ length: Math.floor(lookups / 2) }, (_, at) => `_s${at}.site.test`)
  const own = [...included.map((name) => `include:${name}`), ...(lookups % 2 === 1 ? ['mx'] : [])]
  return {
    'TXT site.test': txt(`v=spf1 ${own.join(' ')} -all`),
    ...Object.fromEntries(
      included.map((name) => [`TXT ${name}`, txt('v=spf1 exists:%{i}.site.test ip4:192.0.2.1 ~all')]),
    ),
  }
}

const dmarc = (...texts: string[]): Zone => ({ 'TXT _dmarc.site.test': txt(...texts) })
const spf = (text: string): Zone => ({ 'TXT site.test': txt(text) })
const dkim = (bits: number): Zone => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: bits })
  const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  return { 'TXT google._domainkey.site.test': txt(`v=DKIM1; k=rsa; p=${key}`) }
}

let names: NameServer
let site: Site
beforeAll(async () => {
  names = await openNameServer()
  site = await openSite()
})
beforeEach(() => {
  for (const key of Object.keys(names.zone)) delete names.zone[key]
  site.clear()
  names.asked.length = 0
  Object.assign(names.say, { authenticated: true, tcp: true, authoritative: true })
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
    ['an alias at the apex', { 'CNAME site.test': [{ data: 'mail.site.test' }] }, ['no_alias_at_apex']],
    ['servers in one network', { 'AAAA ns2.site.test': [] }, ['name_server_networks']],
    ['no SPF', { 'TXT site.test': txt('hello') }, ['spf']],
    ['SPF without an end', { 'TXT site.test': txt('v=spf1 mx') }, ['spf']],
    ['SPF with eleven lookups', spfOf(11), ['spf']],
    ['no mail server', { 'MX site.test': undefined }, ['mail_exchangers']],
    ['a mail server without an address', { 'A mail.site.test': [] }, ['mail_exchangers']],
    ['no MTA-STS', { 'TXT _mta-sts.site.test': undefined }, ['mail_transport']],
    ['no TLS reports', { 'TXT _smtp._tls.site.test': txt('v=something else') }, ['mail_transport']],
    ['no IPv6', { 'AAAA site.test': [] }, ['ipv6']],
    ['no CAA', { 'CAA site.test': undefined }, ['caa']],
    ['no DS', { 'DS site.test': undefined }, ['dnssec']],
    ['a dangling alias', { 'CNAME www.site.test': [{ data: 'gone.example' }] }, ['no_dangling_alias']],
    ['DMARC twice (RFC 7489, 6.6.3)', dmarc('v=DMARC1; p=reject', 'v=DMARC1; p=none'), ['dmarc']],
    ['a policy that is misspelt (RFC 7489, 6.3)', dmarc('v=DMARC1; p=rejct'), ['dmarc']],
    ['a policy for subdomains that is misspelt', dmarc('v=DMARC1; p=reject; sp=qarantine'), ['dmarc']],
    ['DMARC without a policy', dmarc('v=DMARC1; rua=mailto:a@site.test'), ['dmarc']],
    ['a report address that is none', dmarc('v=DMARC1; p=reject; rua=a@site.test'), ['dmarc']],
    ['DMARC of another version (RFC 7489, 6.6.3)', dmarc('v=DMARC2; p=reject'), ['dmarc']],
    ['DMARC for a part of the mail', dmarc('v=DMARC1; p=reject; pct=5'), ['dmarc_policy']],
    ['DMARC that leaves subdomains out', dmarc('v=DMARC1; p=reject; sp=none'), ['dmarc_policy']],
    ['a mechanism that is none (RFC 7208, 4.6.1)', spf('v=spf1 ipv4:192.0.2.1 -all'), ['spf']],
    ['an address that is none', spf('v=spf1 ip4:192.0.2.300 -all'), ['spf']],
    ['a network that is none', spf('v=spf1 ip4:192.0.2.0/33 -all'), ['spf']],
    ['redirect twice (RFC 7208, 6)', spf('v=spf1 redirect=a.test redirect=b.test'), ['spf']],
    ['an include without a record (RFC 7208, 5.2)', spf('v=spf1 include:gone.test -all'), ['spf']],
    ['three empty look-ups (RFC 7208, 4.6.4)', spf('v=spf1 a:x.test a:y.test mx:z.test -all'), ['spf']],
    ['ptr (RFC 7208, 5.5)', spf('v=spf1 ptr -all'), ['spf']],
    ['neutral for all', spf('v=spf1 mx ?all'), ['spf']],
    ['a mail server inside', { 'A mail.site.test': [{ data: '10.1.2.3' }] }, ['mail_exchangers']],
    ['a mail server on this machine', { 'A mail.site.test': [{ data: '127.0.0.1' }] }, ['mail_exchangers']],
    [
      'a mail server by its address (RFC 5321, 5.1)',
      { 'MX site.test': [{ data: { preference: 1, exchange: '93.184.216.35' } }] },
      ['mail_exchangers'],
    ],
    [
      'no mail beside a mail server (RFC 7505, 3)',
      { 'MX site.test': ['', 'mail.site.test'].map((exchange) => ({ data: { preference: 1, exchange } })) },
      ['mail_exchangers'],
    ],
    ['an address inside', { 'A site.test': [{ data: '192.168.0.1' }] }, ['public_addresses']],
    [
      'a name server by an alias (RFC 2181, 10.3)',
      { 'CNAME ns2.site.test': [{ data: 'x.test' }] },
      ['name_servers_no_alias'],
    ],
    ['a DKIM key that can be broken (RFC 8301)', dkim(512), ['dkim']],
    ['short lives', { 'A site.test': [{ data: '93.184.216.34', ttl: 5 }] }, ['ttl']],
  ])('finds %s, and nothing else', async (_, change, faults) => {
    expect((await audit(change)).failed).toEqual(faults)
  })

  it('allows the ten lookups that SPF may need, and gives up on a loop', async () => {
    expect(await audit(spfOf(10))).toMatchObject({ failed: [], result: { mail: { lookups: 10 } } })
    const loop = {
      'TXT site.test': txt('v=spf1 include:a.site.test -all'),
      'TXT a.site.test': txt('v=spf1 redirect=site.test'),
    }
    expect(await audit(loop)).toMatchObject({ failed: ['spf'], result: { mail: { lookups: 11 } } })
    const asked = names.asked.filter((line) => /TXT (a\.)?site\.test/.test(line))
    expect(asked.length).toBeLessThan(30)
  })

  it.each<[string, Zone]>([
    ['two empty look-ups', spf('v=spf1 a:x.test a:y.test mx -all')],
    ['look-ups behind all', spf(`v=spf1 mx -all ${'a:x.test '.repeat(12)}`)],
    ['modifiers that nobody knows yet (RFC 7208, 6)', spf('v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 new=x -all')],
    ['upper case', spf('V=SPF1 MX -ALL')],
    ['another text beside DMARC', dmarc('v=DMARC1; p=quarantine; pct=100; fo=1:d; adkim=s', 'hello')],
    ['a strong DKIM key', dkim(2_048)],
    [
      'no mail, and so no transport of it (RFC 7505)',
      {
        'MX site.test': [{ data: { preference: 0, exchange: '.' } }],
        'TXT _mta-sts.site.test': undefined,
        'TXT _smtp._tls.site.test': undefined,
      },
    ],
  ])('takes %s as what the RFCs allow', async (_, change) => {
    expect((await audit(change)).failed).toEqual([])
  })

  it.each<[string, string[]]>([
    ['TXT site.test', ['spf']],
    ['TXT _dmarc.site.test', ['dmarc', 'dmarc_policy']],
    ['MX site.test', ['mail_exchangers', 'mail_transport']],
    ['AAAA site.test', ['ipv6']],
    ['CAA site.test', ['caa']],
    ['DS site.test', ['dnssec']],
    ['CNAME site.test', ['no_alias_at_apex']],
  ])('never takes silence on %s for nothing', async (question, undecided) => {
    const { result, failed } = await audit({ [question]: 'silent' })
    expect(failed).toEqual([])
    expect(result.not_checked).toEqual(expect.arrayContaining([...undecided, `${question}: no answer`]))
  })

  it('names what mail lacks, each thing by its name', async () => {
    const { result } = await audit({ 'TXT _mta-sts.site.test': undefined, 'TXT _smtp._tls.site.test': undefined })
    const [finding] = result.findings
    expect(finding).toMatchObject({ id: 'mail_transport', message: 'Not set up: MTA-STS and TLS reports (TLS-RPT).' })
  })

  it('tells servers that answer over UDP alone', async () => {
    names.say.tcp = false
    expect((await audit()).failed).toEqual(['name_servers_over_tcp'])
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
    Object.assign(names.zone, good())
    const gone = await dnsHealthAudit.run({ domain: 'nowhere.test' }, signal, { engines: engines(), now: () => AT })
    expect(gone).toMatchObject({ score: 0, findings: [{ id: 'exists' }] })
    // A resolver without a way to the internet knows no ending either.
    const offline = dnsHealthAudit.run({ domain: 'nowhere.example' }, signal, { engines: engines(), now: () => AT })
    await expect(offline).rejects.toMatchObject({ message: 'The resolver knows nothing below example.' })
    names.zone['SOA mute.test'] = 'silent'
    const silence = dnsHealthAudit.run({ domain: 'mute.test' }, signal, { engines: engines(), now: () => AT })
    await expect(silence).rejects.toMatchObject({ code: 'provider_failed' })
  })
})

// Only there is every address of 127.0.0.0/8 this machine.
describe.runIf(process.platform === 'linux')('name servers', () => {
  const others: NameServer[] = []
  const second = async (change: Zone = {}, say: Partial<NameServer['say']> = {}) => {
    const server = await openNameServer({ ...good(), ...change }, { host: '127.0.0.2', at: names.port })
    Object.assign(server.say, say)
    others.push(server)
    return { 'A ns2.site.test': [{ data: '127.0.0.2' }] }
  }
  /** The zone above, whose servers say who serves ours. */
  const parent = async (...delegated: string[]) => {
    const referral = { 'REFERRAL site.test': delegated.map((data) => ({ data })) }
    others.push(await openNameServer(referral, { host: '127.0.0.3', at: names.port }))
    return { 'NS test': [{ data: 'ns.test' }], 'A ns.test': [{ data: '127.0.0.3' }] }
  }
  afterEach(async () => {
    for (const server of others.splice(0)) await server.close()
  })
  const [one, two] = ['ns1.site.test', 'ns2.site.test']

  it('that agree with each other and with the zone above are well', async () => {
    const { result, failed } = await audit({ ...(await second()), ...(await parent(two, one)) })
    expect(failed).toEqual([])
    expect(result.delegation).toEqual([one, two])
    expect(result.not_checked).not.toContain("the parent zone's delegation")
  })

  it('that have different versions of the zone are told apart', async () => {
    const { result, failed } = await audit(await second({ 'SOA site.test': soa(8) }))
    expect(failed).toEqual(['serials_agree'])
    expect(result.findings[0].evidence).toBe(`${one} 7, ${two} 8`)
  })

  it('that name other servers than each other are told apart', async () => {
    const { result, failed } = await audit(await second({ 'NS site.test': [{ data: one }, { data: 'old.site.test' }] }))
    expect(failed).toEqual(['name_servers_agree'])
    expect(result.findings[0].evidence).toContain(`${two} lists ${one}, old.site.test`)
  })

  it('whom the zone above does not name are told, and so is whom it names that is none', async () => {
    const { result, failed } = await audit({
      ...(await second()),
      ...(await parent(one, 'gone.site.test')),
    })
    expect(failed).toEqual(['name_servers_agree', 'no_lame_name_server'])
    expect(result.delegation).toEqual(['gone.site.test', one])
    const findings: { id: string; evidence?: string }[] = result.findings
    const evidenceOf = (id: string) => findings.find((finding) => finding.id === id)?.evidence
    expect(evidenceOf('name_servers_agree')).toBe(
      `the parent lists gone.site.test, ${one}; the zone lists ${one}, ${two}`,
    )
    expect(evidenceOf('no_lame_name_server')).toBe('gone.site.test')
  })

  it.each<[string, Zone, Partial<NameServer['say']>]>([
    ['answers from what it has heard', {}, { authoritative: false }],
    ['knows nothing of the zone', { 'SOA site.test': undefined, 'NS site.test': undefined }, {}],
    ['is silent', { 'SOA site.test': 'silent', 'NS site.test': 'silent' }, {}],
  ])('one of which %s are lame by that one', async (_, change, say) => {
    const { result, failed } = await audit(await second(change, say))
    expect(failed).toEqual(['no_lame_name_server'])
    expect(result.findings[0].evidence).toBe(two)
  })
})

describe('whether a domain is free', () => {
  const run = (domain: string) =>
    domainAvailability.run({ domain }, new AbortController().signal, { engines: engines(), now: () => AT })
  const bootstrap = () => {
    site.pages['/dns.json'] = { body: JSON.stringify({ services: [[['test'], [site.at('/rdap/')]]] }) }
  }

  it('is asked of the list that the operator named, which may stand where no page may', async () => {
    bootstrap()
    site.pages['/rdap/domain/taken.test'] = { body: '{"status":["active"]}' }
    const { ask, get } = site.web()
    const guarded: typeof get = (url, ...more) =>
      url.endsWith('.json') ? Promise.reject(new Error()) : get(url, ...more)
    const rdap = openRdap({ web: { ask, get: guarded }, wall: () => AT, bootstrap: site.at('/dns.json') })
    expect(await rdap.domain('taken.test', new AbortController().signal)).toMatchObject({ status: ['active'] })
  })

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
    expect(() => domainAvailability.check({ domain: 'co.uk' })).toThrow(/public suffix/)
  })
})
