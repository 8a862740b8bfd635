import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type NameServer, openNameServer } from '../../../ports/dns/dns.testkit.ts'
import { openDns } from '../../../ports/dns/dns.ts'
import { openAuthority, openTlsListener } from '../../../ports/tls/authority.testkit.ts'
import { openTls } from '../../../ports/tls/tls.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import type { PublicWeb } from '../../../ports/web/web.ts'
import { deliversItsSchema } from '../delivers.testkit.ts'
import type { FirstPartyService } from '../service/service.ts'
import { certificateCheck } from './certificate-check.ts'
import { tlsAudit } from './tls-audit.ts'
import { tlsSecurityEvidence } from './tls-security-evidence.ts'

const HOST = 'site.test'
const AT = Date.parse('2026-06-01T00:00:00Z')
const HSTS = { 'strict-transport-security': 'max-age=63072000; includeSubDomains' }

let authority: ReturnType<typeof openAuthority>
let site: Site
let names: NameServer
const open: { close: () => Promise<void> }[] = []
beforeAll(async () => {
  authority = openAuthority()
  site = await openSite()
  names = await openNameServer({ [`A ${HOST}`]: [{ data: '127.0.0.1' }] })
})
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.close()
  site.clear()
})
afterAll(async () => {
  authority.close()
  await site.close()
  await names.close()
})

/** The site's pages under the names of https and http. */
function webOf(): PublicWeb {
  const web = site.web()
  return {
    ...web,
    get: (url, options) => web.get(site.at(url.startsWith('https') ? '/https' : '/http'), options),
    resolve: async (host) => web.resolve(`${host}:${site.port}`),
  }
}

type Running = { readonly port: number; readonly service: FirstPartyService; readonly domain?: string }

function run({ port, service, domain = HOST }: Running) {
  const web = webOf()
  const engines = {
    tls: openTls({ resolve: web.resolve, port, ca: authority.root }),
    dns: openDns({ servers: [names.server] }),
  }
  // biome-ignore lint/suspicious/noExplicitAny: results of three services, each read by its test
  return service.run({ domain }, new AbortController().signal, { web, engines, now: () => AT }) as Promise<any>
}

async function listen(options: TlsOptions): Promise<number> {
  const listener = await openTlsListener(options)
  open.push(listener)
  return listener.port
}

const check = (port: number) => run({ port, service: certificateCheck })
const findingsOf = async (port: number) => {
  const audit = await run({ port, service: tlsAudit })
  const failed = audit.findings.filter(({ status }: { status: string }) => status !== 'pass')
  return { audit, failed: failed.map(({ id }: { id: string }) => id) }
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

describe('the audit of TLS', () => {
  it('gives a good host the best grade', async () => {
    site.pages['/https'] = { headers: HSTS }
    names.zone[`CAA ${HOST}`] = [{ data: { flags: 0, tag: 'issue', value: 'ca.test' } }]
    const leaf = authority.leaf({ name: HOST })
    const port = await listen({ ...leaf, minVersion: 'TLSv1.2' })
    const { audit, failed } = await findingsOf(port)
    delete names.zone[`CAA ${HOST}`]
    expect(failed).toEqual(['http_redirects', 'certificate_transparency', 'ocsp_stapling']) // no CA of a test logs or staples
    expect(audit).toMatchObject({
      protocols: ['TLSv1.2', 'TLSv1.3'],
      protocols_not_tested: [],
      score: expect.any(Number),
    })
    expect(audit.score).toBeGreaterThanOrEqual(95)
    expect(audit.grade).toBe('A+')
    deliversItsSchema('tls_audit', audit)
  })

  const always = ['caa', 'certificate_transparency', 'hsts', 'http_redirects', 'ocsp_stapling']
  it.each<[string, () => TlsOptions, string[]]>([
    [
      'old versions',
      () => ({ ...authority.leaf({ name: HOST }), minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' }),
      ['no_old_versions', 'no_weak_suites'],
    ],
    [
      'a short key',
      () => ({
        ...authority.leaf({ name: HOST, key: 'rsa1024' }),
        minVersion: 'TLSv1.2',
        ciphers: 'DEFAULT:@SECLEVEL=0',
      }),
      ['key_strength'],
    ],
    ['another name', () => ({ ...authority.leaf({ name: 'other.test' }), minVersion: 'TLSv1.2' }), ['name_matches']],
    [
      'no TLS 1.3',
      () => ({ ...authority.leaf({ name: HOST }), maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' }),
      ['tls13'],
    ],
    [
      'no intermediate',
      () => ({ ...authority.leaf({ name: HOST, issuer: 'intermediate' }), minVersion: 'TLSv1.2' }),
      ['certificate_trusted', 'chain_complete'],
    ],
  ])('finds %s, and nothing else', async (_, options, faults) => {
    site.pages['/https'] = {}
    const { audit, failed } = await findingsOf(await listen(options()))
    expect(failed.filter((id: string) => !always.includes(id)).sort()).toEqual(faults.toSorted())
    if (faults.includes('name_matches') || faults.includes('certificate_trusted'))
      expect(audit.score).toBeLessThanOrEqual(40)
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
