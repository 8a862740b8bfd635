import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openLoop } from '../../../../fixtures/kit/loop.ts'
import { type NameServer, openNameServer } from '../../../ports/dns/dns.testkit.ts'
import { openDns } from '../../../ports/dns/dns.ts'
import { openAuthority, openTlsListener } from '../../../ports/tls/authority.testkit.ts'
import { openTls, type Tls } from '../../../ports/tls/tls.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import type { PublicWeb } from '../../../ports/web/web.ts'
import { deliversItsSchema } from '../delivers.testkit.ts'
import type { FirstPartyService } from '../service/service.ts'
import { certificateCheck } from './certificate-check.ts'
import { tlsAudit } from './tls-audit.ts'
import { tlsSecurityEvidence } from './tls-security-evidence.ts'

// @slow servers with every fault of a certificate

const HOST = 'site.test'
const AT = Date.parse('2026-06-01T00:00:00Z')
const HSTS = { 'strict-transport-security': 'max-age=63072000; includeSubDomains' }

let authority: ReturnType<typeof openAuthority>
let site: Site
let names: NameServer
let listening = 0
let tls: Tls
const open: { close: () => Promise<void> }[] = []
beforeAll(async () => {
  authority = openAuthority()
  site = await openSite()
  names = await openNameServer({ [`A ${HOST}`]: [{ data: '127.0.0.1' }] })
  const toListener = {
    get port() {
      return listening
    },
  }
  tls = openTls(Object.assign(toListener, { resolve: webOf().resolve, ca: authority.root }))
})
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.close()
  site.clear()
})
afterAll(async () => {
  authority.close()
  await tls.close()
  await site.close()
  await names.close()
})

/** The site's pages under the names of https and http; a page at `/http` that is none leads to https. */
function webOf(): PublicWeb {
  const web = site.web()
  return {
    ...web,
    get: async (url, options) => {
      if (url.startsWith('https') || !site.pages['/http']) {
        return { ...(await web.get(site.at('/https'), options)), url: `https://${HOST}/` }
      }
      return web.get(site.at('/http'), options)
    },
    resolve: async (host) => web.resolve(`${host}:${site.port}`),
  }
}

type Running = {
  readonly port: number
  readonly service: FirstPartyService
  readonly domain?: string
  readonly at?: number
}

function run({ port, service, domain = HOST, at = AT }: Running) {
  listening = port
  const engines = { tls, dns: openDns({ servers: [names.server] }) }
  // biome-ignore lint/suspicious/noExplicitAny: results of three services, each read by its test
  return service.run({ domain }, new AbortController().signal, { web: webOf(), engines, now: () => at }) as Promise<any>
}

async function listen(options: Parameters<typeof openTlsListener>[0]): Promise<number> {
  const listener = await openTlsListener(options)
  open.push(listener)
  return listener.port
}

const check = (port: number) => run({ port, service: certificateCheck })
const findingsOf = async (port: number, at = AT) => {
  const audit = await run({ port, service: tlsAudit, at })
  const failed = audit.findings.filter(
    ({ id, status }: Record<string, string>) => status !== 'pass' && id !== 'validity_period', // those of tests live for decades
  )
  return { audit, failed: failed.map(({ id }: { id: string }) => id).sort() }
}

describe('a certificate', () => {
  it('that is right is valid, with names, key and days', async () => {
    const port = await listen(authority.leaf({ name: HOST }))
    const result = await check(port)
    expect(result).toMatchObject({
      valid: true,
      reason: null,
      names: [HOST],
      days_left: 8250,
      key: { type: 'ec', curve: 'prime256v1' },
      signature_algorithm: 'ecdsa-with-SHA256',
      chain_length: 2,
      engine: { kind: 'deterministic' },
    })
    deliversItsSchema('certificate_check', result)
  })

  it('that wants a stapled proof says so, and whether it comes with one', async () => {
    const leaf = authority.leaf({ name: HOST, extensions: 'tlsfeature=status_request' })
    expect(await check(await listen(leaf))).toMatchObject({ must_staple: true, stapled: false })
    const stapling = await listen({ ...leaf, staple: Buffer.from('a proof') })
    expect(await check(stapling)).toMatchObject({ must_staple: true, stapled: true })
  })

  it.each([
    ['expired', { name: HOST, from: '20200101000000Z', to: '20210101000000Z' }],
    ['not_yet_valid', { name: HOST, from: '20480101000000Z', to: '20490101000000Z' }],
    ['name_mismatch', { name: 'other.test' }],
    ['self_signed', { name: HOST, issuer: 'self' }],
    ['incomplete_chain', { name: HOST, issuer: 'intermediate' }],
    ['weak_key', { name: HOST, key: 'rsa1024' }],
  ] as const)('that is %s is told apart', async (reason, wanted) => {
    const port = await listen({ ...authority.leaf(wanted), ciphers: 'DEFAULT:@SECLEVEL=0' })
    expect(await check(port)).toMatchObject({ valid: false, reason })
  })

  it('of a port that speaks no TLS, or of no port, is a failure that charges nothing', async () => {
    const plain = createServer((socket) => socket.resume().end('220 hello\r\n'))
    plain.listen(0, '127.0.0.1')
    await once(plain, 'listening')
    await expect(check((plain.address() as AddressInfo).port)).rejects.toMatchObject({ code: 'provider_failed' })
    const { port } = plain.address() as AddressInfo
    plain.close()
    await once(plain, 'close')
    await expect(check(port)).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it('that has thousands of names holds up nobody, and is shown within bounds', async () => {
    const name = [HOST, ...Array.from({ length: 15_000 }, () => '*.a')].join(',DNS:')
    const port = await listen(authority.leaf({ name }))
    await check(port) // the thread has started
    const loop = openLoop()
    expect(await loop.longestTurn(() => check(port))).toBeLessThan(loop.limitMs)
    expect((await check(port)).names).toHaveLength(200)
  })

  it.each([
    '127.0.0.1',
    'https://[::1]/',
    'example.com:8443',
    'http://user:pw@example.com',
    'a b',
    'localhost',
    '2130706433',
    '',
  ])('of %j is refused before anything is asked', (domain) => {
    expect(() => certificateCheck.check({ domain })).toThrow(/^domain: /)
  })
})

/** A log's proof of transparency: its extension alone, which is what is looked for. */
const LOGGED = '1.3.6.1.4.1.11129.2.4.2=DER:04020000'
/** With a server for OCSP. */
const ASKED = `${LOGGED}\nauthorityInfoAccess=OCSP;URI:http://ocsp.test/`

type Fault = {
  readonly leaf?: Partial<Parameters<ReturnType<typeof openAuthority>['leaf']>[0]>
  readonly how?: Parameters<typeof openTlsListener>[0]
  readonly headers?: Readonly<Record<string, string>>
  readonly plain?: { readonly body: string }
  readonly caa?: false
  readonly at?: number
}

/** A host that has everything, but for one fault. */
async function auditOf({ leaf, how, headers = HSTS, plain, caa, at }: Fault = {}) {
  site.pages['/https'] = { headers }
  if (plain) site.pages['/http'] = plain
  if (caa !== false) names.zone[`CAA ${HOST}`] = [{ data: { flags: 0, tag: 'issue', value: 'ca.test' } }]
  const made = authority.leaf({ name: HOST, extensions: LOGGED, ...leaf })
  const port = await listen({ ...made, minVersion: 'TLSv1.2', staple: Buffer.from('a proof'), ...how })
  const found = await findingsOf(port, at)
  delete names.zone[`CAA ${HOST}`]
  deliversItsSchema('tls_audit', found.audit)
  return found
}

/** As SSL Labs' guide caps a grade by what is wrong. */
const gradeBy = (ids: readonly string[]) => {
  const grades = [
    ['T', ['certificate_trusted']],
    ['M', ['name_matches']],
    ['F', ['no_weak_suites', 'key_strength', 'signature']],
    ['C', ['tls12']],
    ['B', ['no_old_versions', 'forward_secrecy', 'chain_complete']],
    ['A-', ['tls13']],
    ['A', ['hsts']],
  ] as const
  return grades.find(([, rules]) => rules.some((rule) => ids.includes(rule)))?.[0] ?? 'A+'
}

describe('the audit of TLS', () => {
  it('asks for no staple of a certificate that names no server for it', async () => {
    const { audit, failed } = await auditOf({ how: { staple: Buffer.alloc(0) } })
    expect([failed, audit.score]).toEqual([[], 100])
    expect(audit.not_checked).toContain('ocsp_stapling')
  })

  it('names a certificate that is issued for longer than authorities may, and takes no points for it', async () => {
    const { audit } = await auditOf()
    const finding = audit.findings.find(({ id }: { id: string }) => id === 'validity_period')
    expect([audit.score, finding]).toEqual([100, expect.objectContaining({ status: 'warn', weight: 0 })])
  })

  it('gives a host without a fault the whole score and the best grade', async () => {
    const { audit, failed } = await auditOf()
    expect(failed).toEqual([])
    expect(audit).toMatchObject({
      score: 100,
      grade: 'A+',
      protocols: ['TLSv1.2', 'TLSv1.3'],
      protocols_not_tested: [],
    })
  })

  const lax = 'DEFAULT:@SECLEVEL=0'
  it.each<[string, Fault, string[]]>([
    ['old versions', { how: { minVersion: 'TLSv1', ciphers: lax } }, ['no_old_versions']],
    ['suites without a certificate', { how: { ciphers: 'ALL:@SECLEVEL=0' } }, ['no_weak_suites']],
    [
      'suites without forward secrecy',
      { leaf: { key: 'rsa2048' }, how: { ciphers: 'AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } },
      ['forward_secrecy', 'tls13'],
    ],
    ['a short key', { leaf: { key: 'rsa1024' }, how: { ciphers: lax } }, ['key_strength']],
    ['a signature of yesterday', { leaf: { digest: 'sha1' }, how: { ciphers: lax } }, ['signature']],
    ['no TLS 1.3', { how: { maxVersion: 'TLSv1.2' } }, ['tls13']],
    ['no TLS 1.2', { how: { minVersion: 'TLSv1.3' } }, ['tls12']],
    ['another name', { leaf: { name: 'other.test' } }, ['name_matches']],
    ['another name, where the host says one label less', { leaf: { name: `*.${HOST}` } }, ['name_matches']],
    ['an ended certificate', { leaf: { to: '20210101000000Z' } }, ['certificate_trusted', 'expiry']],
    ['a certificate of the future', { leaf: { from: '20480101000000Z' } }, ['certificate_trusted']],
    ['a certificate that ends soon', { at: Date.parse('2048-12-15T00:00:00Z') }, ['expiry']],
    ['one that nobody signed', { leaf: { issuer: 'self' } }, ['certificate_trusted']],
    ['no intermediate', { leaf: { issuer: 'intermediate' } }, ['certificate_trusted', 'chain_complete']],
    // The handshake names one fault of several.
    [
      'one that nobody signed, for another name',
      { leaf: { issuer: 'self', name: 'other.test' } },
      ['certificate_trusted', 'name_matches'],
    ],
    [
      'one that has ended, for another name, without its intermediate',
      { leaf: { issuer: 'intermediate', name: 'other.test', to: '20210101000000Z' } },
      ['certificate_trusted', 'chain_complete', 'expiry', 'name_matches'],
    ],
    ['no HSTS', { headers: {} }, ['hsts']],
    ['an HSTS that is no number', { headers: { 'strict-transport-security': 'max-age=forever' } }, ['hsts']],
    ['an HSTS that switches itself off', { headers: { 'strict-transport-security': 'max-age=0' } }, ['hsts']],
    [
      'an HSTS of a month',
      { headers: { 'strict-transport-security': 'max-age=2592000; includeSubDomains; preload' } },
      ['hsts'],
    ],
    ['pages without TLS', { plain: { body: 'hello' } }, ['http_redirects']],
    ['nothing stapled', { leaf: { extensions: ASKED }, how: { staple: Buffer.alloc(0) } }, ['ocsp_stapling']],
    ['no word on who may issue', { caa: false }, ['caa']],
    ['no proof of transparency', { leaf: { extensions: '' } }, ['certificate_transparency']],
  ])('finds %s, and nothing else', async (_, fault, ids) => {
    const { audit, failed } = await auditOf(fault)
    expect(failed).toEqual(ids)
    expect(audit.score).toBeLessThan(100)
    const isUntrusted = ids.includes('name_matches') || ids.includes('certificate_trusted')
    expect(audit.grade).toBe(gradeBy(ids))
    expect(audit.score <= 40).toBe(isUntrusted)
    const others = ids.filter((id) => id !== 'name_matches' && id !== 'certificate_trusted')
    expect(audit.grade_if_trusted).toBe(isUntrusted ? gradeBy(others) : undefined)
  })

  it('of a certificate with an intermediate that is sent is whole', async () => {
    const leaf = authority.leaf({ name: HOST, issuer: 'intermediate', extensions: LOGGED })
    const how = { key: leaf.key, cert: leaf.cert + authority.intermediate }
    const { audit, failed } = await auditOf({ how })
    expect(failed).toEqual([])
    expect(audit.chain).toHaveLength(3)
  })

  it('says what it could not look at, and does not count it', async () => {
    site.pages['/https'] = (_, res) => res.destroy()
    const port = await listen({ ...authority.leaf({ name: HOST }), minVersion: 'TLSv1.2' })
    const { audit } = await findingsOf(port)
    expect(audit.not_checked).toEqual(expect.arrayContaining(['hsts', 'http_redirects', 'revocation']))
    const ids = audit.findings.map(({ id }: { id: string }) => id)
    expect(ids).not.toEqual(expect.arrayContaining(['hsts']))
  })

  it('of a host without TLS is a result with the score 0', async () => {
    const port = await listen({})
    await open.splice(0)[0]?.close()
    const { audit } = await findingsOf(port)
    expect(audit).toMatchObject({ score: 0, grade: 'F', findings: [{ id: 'reachable', status: 'fail' }] })
    deliversItsSchema('tls_audit', audit)
  })
})

describe('evidence of TLS and headers', () => {
  it('hashes the same for the same host, and otherwise for another certificate', async () => {
    site.pages['/https'] = { headers: { ...HSTS, 'content-security-policy': "default-src 'self'", server: 'duck' } }
    const evidence = async () => {
      const port = await listen({ ...authority.leaf({ name: HOST }) })
      return [await run({ port, service: tlsSecurityEvidence }), await run({ port, service: tlsSecurityEvidence })]
    }
    const [[one, again], [other]] = [await evidence(), await evidence()]
    const hashOf = (result: { tls_security_evidence: { evidence_sha256: string } }) =>
      result.tls_security_evidence.evidence_sha256
    expect(hashOf(one)).toBe(hashOf(again))
    expect(hashOf(one)).not.toBe(hashOf(other))
    expect(one.tls_security_evidence).toMatchObject({
      port: 443,
      http: { status: 200 },
      headers: { server: 'duck' },
      engine: { name: 'souk' },
    })
    expect(one.tls_security_evidence.rubric).toContainEqual(
      expect.objectContaining({ header: 'content-security-policy', verdict: 'good' }),
    )
    deliversItsSchema('tls_security_evidence', one)
  })
})
