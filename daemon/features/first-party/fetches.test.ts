import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sampled } from '../../../fixtures/kit/depth.ts'
import type { Json } from '../../../src/core/json.ts'
import { openAudio } from '../../ports/audio/audio.ts'
import { chromium, openVictim } from '../../ports/browser/browser.testkit.ts'
import { type BrowserEngine, openBrowsers } from '../../ports/browser/browser.ts'
import { openNameServer } from '../../ports/dns/dns.testkit.ts'
import { openDns } from '../../ports/dns/dns.ts'
import { openTls } from '../../ports/tls/tls.ts'
import { openRdap } from '../../ports/upstream/rdap.ts'
import { openUpstream } from '../../ports/upstream/upstream.ts'
import { inUrl, loopbackSpellings, specialAddresses } from '../../ports/web/address.testkit.ts'
import { openSite, type Site } from '../../ports/web/site.testkit.ts'
import type { PublicWeb, Web } from '../../ports/web/web.ts'
import { firstPartyServices } from './index.ts'
import type { Engines } from './service/engines.ts'
import type { FirstPartyService, JsonInput } from './service/service.ts'

// @slow every function that fetches meets every bad site

/* What a stranger names is fetched under one set of rules, whichever function fetches it: all of them, by their listings. */

const audio = openAudio().port
let site: Site
/** Stands where no function may go: on this machine, at a port that nobody exempted. */
let victim: Awaited<ReturnType<typeof openVictim>>
const browsers: BrowserEngine[] = []
beforeAll(async () => {
  site = await openSite()
  victim = await openVictim()
})
beforeEach(() => site.clear())
afterEach(async () => {
  await Promise.all(browsers.splice(0).map(({ close }) => close?.()))
})
afterAll(async () => {
  expect(victim.count).toEqual({ connections: 0, packets: 0 })
  await site.close()
  await victim.close()
})

type Field = { readonly type?: string; readonly format?: string; readonly enum?: readonly string[] }
const fieldsOf = (slug: string): [string, Field][] =>
  Object.entries(JSON.parse(readFileSync(`fixtures/listings/${slug}.json`, 'utf8')).input_schema.properties)
const fieldNamed = (slug: string, pattern: RegExp) => fieldsOf(slug).find(([name]) => pattern.test(name))?.[0]

type Fetching = {
  readonly slug: string
  readonly service: FirstPartyService
  readonly field: string
}
const kinds = [...firstPartyServices.values()].map((service) => {
  const { slug } = service
  const [address, host] = [fieldNamed(slug, /(^|_)url$/), fieldNamed(slug, /^domain$/)]
  return { slug, service, address, host }
})
const ofAddresses = kinds.flatMap(({ address, ...one }): Fetching[] => (address ? [{ ...one, field: address }] : []))
const ofHosts = kinds.flatMap(({ host, ...one }): Fetching[] => (host ? [{ ...one, field: host }] : []))
const ofNeither = kinds.filter(({ address, host }) => !address && !host)
const needsBrowser = ({ service }: Fetching) => service.needs.includes('browser')
/** A browser is started for each of these: three commits take all of them. */
const byBrowser = sampled(chromium === undefined ? [] : ofAddresses.filter(needsBrowser), 3)
const byItself = ofAddresses.filter((one) => !needsBrowser(one))

it('every function that takes an address or a host is one of these', () => {
  expect(ofAddresses.length).toBeGreaterThanOrEqual(16)
  expect(ofHosts.length).toBeGreaterThanOrEqual(5)
  for (const { slug } of ofNeither) {
    const suspects = fieldsOf(slug).filter(
      ([name, { format }]) => format !== undefined || /ur[il]|host|site|domain|link|address|endpoint/.test(name),
    )
    expect([slug, suspects]).toEqual([slug, []])
  }
})

/** A function that wants https gets it: the site is asked by plain http all the same. */
function buy({ service, field }: Fetching, url: string, web: Web = site.web()): Promise<Json> {
  const wantsTls = service.slug === 'audio_loudness_normalization'
  const address = wantsTls ? url.replace(/^http:/, 'https:') : url
  const plain: PublicWeb = {
    ...web,
    get: (to, options) => web.get(wantsTls ? to.replace(/^https:/, 'http:') : to, options),
  }
  const engine = openBrowsers({ web })
  browsers.push(engine)
  const engines = { audio, browser: engine.port }
  const input: JsonInput = { use_case: 'read ducks', [field]: address }
  return Promise.resolve()
    .then(() => service.check(input, { web: plain, engines }))
    .then(() => service.run(input, new AbortController().signal, { web: plain, engines, now: () => 0 }))
}
const uncharged = expect.stringMatching(/^(input_invalid|provider_failed)$/)
const resolving = (addresses: readonly string[]) =>
  site.web({
    exempt: () => false,
    resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  })

const refusedOf = (one: Fetching) => (asked: Promise<Json>) =>
  expect(asked).rejects.toMatchObject({ code: 'input_invalid', details: [{ path: one.field }] })

describe.each(ofAddresses)('$slug', (one) => {
  const refused = refusedOf(one)

  it('goes to no special address, however it is spelled, and to no odd port, scheme or name', async () => {
    const hosts = [...specialAddresses.map(([address]) => inUrl(address)), ...loopbackSpellings, 'localhost']
    for (const host of hosts) {
      await refused(buy(one, `http://${host}:${victim.port}/`))
      if (host !== 'localhost') await refused(buy(one, `https://${host}/`))
    }
    const odd = ['http://user:word@site.test/', 'http://site.test:22/', 'ftp://site.test/', 'file:///etc/passwd', 'x']
    for (const url of odd) await refused(buy(one, url))
  })
})

describe.each([...byItself, ...byBrowser])('$slug', (one) => {
  const refused = refusedOf(one)
  const inside = needsBrowser(one)
    ? [['93.184.216.34', '169.254.169.254']]
    : [['10.0.0.7'], ['127.0.0.1'], ['::ffff:127.0.0.1'], ['fe80::1'], ['93.184.216.34', '169.254.169.254']]
  it('goes nowhere by a name of which any address leads inside', async () => {
    for (const addresses of inside) await refused(buy(one, 'http://inside.test/', resolving(addresses)))
  })

  it('follows no redirect inside', async () => {
    const others = needsBrowser(one) ? [] : ['http://[::ffff:10.0.0.1]/', 'http://169.254.169.254/']
    for (const to of [`http://127.0.0.1:${victim.port}/`, 'file:///etc/passwd', ...others]) {
      site.pages['/start'] = { status: 302, headers: { location: to } }
      const asked = buy(one, site.at('/start'))
      // A browser ends a redirect to a file by itself.
      if (needsBrowser(one) && to.startsWith('file:')) await expect(asked).rejects.toMatchObject({ code: uncharged })
      else await refused(asked)
    }
  })

  it('does as robots.txt says, for the page and for where it leads', async () => {
    site.pages['/robots.txt'] = { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /private' }
    site.pages['/private'] = { body: '<title>private</title>' }
    site.pages['/leads'] = { status: 302, headers: { location: '/private' } }
    for (const path of needsBrowser(one) ? ['/leads'] : ['/private', '/leads']) await refused(buy(one, site.at(path)))
    expect(site.asked).not.toContain('GET /private')
  })
})

/** Pages and bytes of each that one purchase may read, where that is other than the specification has for all of them. */
const more: Readonly<Record<string, { readonly pages?: number; readonly bytes?: number }>> = {
  audio_loudness_normalization: { pages: 1, bytes: 8 * 1024 * 1024 },
  summarization: { pages: 1, bytes: 2 * 1024 * 1024 },
}
const MB = 1024 * 1024

describe.each(byItself)('$slug', (one) => {
  const { pages = 3, bytes = MB } = more[one.slug] ?? {}

  it(`reads ${pages} pages at most and ${bytes} bytes of each, and resolves a name once for each connection`, async () => {
    const links = Array.from(
      { length: 20 },
      (_, n) => `<a href="/docs/about-pricing-api-${n}">API about pricing ${n}</a>`,
    )
    const start = `<title>Ducks</title><h1>API</h1><p>GET /v1/ducks</p><p>Authorization: Bearer</p>${links.join(' ')}`
    const long = { body: `${start}${`<p>${'ducks swim '.repeat(4_000)}</p>`.repeat(60)}` }
    for (const path of ['/', ...links.map((_, n) => `/docs/about-pricing-api-${n}`)]) site.pages[path] = long
    let resolved = 0
    const web = site.web({
      resolve: async () => {
        resolved += 1
        return [{ address: '127.0.0.1', family: 4 }]
      },
    })
    const read: number[] = []
    const get: Web['get'] = async (url, options) => {
      const answer = await web.get(url, options)
      read.push(answer.body.length)
      return answer
    }
    await buy(one, site.at('/'), { ...web, get }).catch(() => undefined)
    const asked = site.asked.filter((line) => !/robots\.txt|favicon|sitemap/.test(line))
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.length).toBeLessThanOrEqual(pages)
    expect(Math.max(0, ...read)).toBeLessThanOrEqual(bytes)
    expect(resolved).toBe(site.asked.length)
  })
})

describe.each(byBrowser)('$slug', (one) => {
  it('reads three pages at most, whatever a page links to', async () => {
    const links = Array.from({ length: 20 }, (_, n) => `<a href="/about-${n}">About pricing ${n}</a>`)
    const body = `<!doctype html><title>Ducks</title><h1>Ducks</h1><p>ducks swim on ponds</p>${links.join(' ')}`
    for (const path of ['/', ...links.map((_, n) => `/about-${n}`)]) site.pages[path] = { body }
    await buy(one, site.at('/'))
    // The same page may be looked at more than once, as on a desktop and on a phone.
    const pages = new Set(site.asked.filter((line) => !/robots\.txt|favicon/.test(line)))
    expect(pages.size).toBeGreaterThan(0)
    expect(pages.size).toBeLessThanOrEqual(3)
  })
})

describe.each(ofHosts)('$slug', ({ service, field }) => {
  it('takes no address for a host, and no port but that of https', () => {
    const hosts = [...specialAddresses.map(([address]) => inUrl(address)), ...loopbackSpellings, 'localhost']
    for (const host of [...hosts, 'site.test:22', 'user:word@site.test', 'file:///etc/passwd', 'a b']) {
      expect(() => service.check({ [field]: host }, {})).toThrow(new RegExp(`^${field}: `))
    }
  })

  it('connects to nothing inside, whatever a name, a zone or a registry says', async () => {
    const zone = {
      data: { mname: 'ns.site.test', rname: 'a.site.test', serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1 },
    }
    const names = await openNameServer({
      'A site.test': [{ data: '127.0.0.1' }],
      'NS site.test': [{ data: 'ns.site.test' }],
      'A ns.site.test': [{ data: '127.0.0.1' }],
      'SOA site.test': [zone],
      'MX site.test': [{ data: { preference: 1, exchange: 'ns.site.test' } }],
    })
    site.pages['/rdap.json'] = { body: JSON.stringify({ services: [[['test'], [site.at('/rdap/')]]] }) }
    site.pages['/rdap/domain/site.test'] = { status: 302, headers: { location: `http://127.0.0.1:${victim.port}/` } }
    const web = resolving(['93.184.216.34', '127.0.0.1'])
    const tls = openTls({ resolve: web.resolve, port: victim.port })
    const engines = {
      tls,
      dns: openDns({ servers: [names.server], zonePort: victim.port }),
      rdap: openRdap({ web: site.web(), wall: () => 0, bootstrap: site.at('/rdap.json') }),
    }
    const made = service.run({ [field]: 'site.test' }, new AbortController().signal, { web, engines, now: () => 0 })
    const failed = await made.then(
      () => undefined,
      (error: { code?: string }) => error.code,
    )
    // What a zone says of itself is a result; the others have nothing to tell.
    if (service.slug === 'dns_health_audit') expect(failed).toBeUndefined()
    else expect(failed).toEqual(uncharged)
    expect(victim.count).toEqual({ connections: 0, packets: 0 })
    await names.close()
    await tls.close()
  })
})

describe.each(ofNeither)('$slug', ({ service, slug }) => {
  it('asks for nothing that a buyer writes into it', async () => {
    const hostile = `http://127.0.0.1:${victim.port}/`
    const input = Object.fromEntries(
      fieldsOf(slug).flatMap(([name, { type, enum: choices }]) =>
        type === 'string' ? [[name, choices?.[0] ?? hostile]] : [],
      ),
    )
    const upstream = openUpstream({
      web: site.web({ exempt: () => false }),
      wall: () => 0,
      name: 'It',
      base: site.at('/upstream'),
      fix: 'nothing',
    })
    const upstreams = ['advisories', 'coins', 'geocoding', 'grants', 'market', 'weather'] as const
    const engines: Partial<Engines> = Object.fromEntries(upstreams.map((name) => [name, upstream]))
    const means = { web: site.web(), engines, now: () => 0 }
    await Promise.resolve()
      .then(() => service.check(input, means))
      .then(() => service.run(input, new AbortController().signal, means))
      .catch(() => undefined)
    expect(site.asked.filter((line) => !/^(GET|POST) \/upstream\//.test(line))).toEqual([])
    expect(victim.count).toEqual({ connections: 0, packets: 0 })
  })
})
