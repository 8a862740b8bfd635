import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openFunctionWorld } from '../../../fixtures/market/function-world.ts'
import { openMarketplace } from '../../../fixtures/market/marketplace.ts'
import type { Json } from '../../../src/core/json.ts'
import { openAudio } from '../../ports/audio/audio.ts'
import { openSpeech } from '../../ports/speech/speech.ts'
import { openTranslator } from '../../ports/translation/translator.ts'
import { openSite, type Site } from '../../ports/web/site.testkit.ts'
import type { PublicWeb } from '../../ports/web/web.ts'
import { engineBoard } from '../engines/engines.ts'
import { firstPartyServices } from './index.ts'
import type { JsonInput } from './service/service.ts'

/* What a stranger names is fetched under one set of rules, whichever function fetches it. */

const FIELDS = ['url', 'site_url', 'docs_url', 'source_url']
const engines = { audio: openAudio().port }

let site: Site
/** Stands where no function may go: on this machine, at a port that nobody exempted. */
let victim: Site
beforeAll(async () => {
  site = await openSite()
  victim = await openSite({ '/': { body: 'secret' }, '/robots.txt': { body: '' } })
})
beforeEach(() => {
  site.clear()
  victim.asked.length = 0
})
afterAll(async () => {
  await site.close()
  await victim.close()
})

const schemaOf = (slug: string) => JSON.parse(readFileSync(`fixtures/listings/${slug}.json`, 'utf8')).input_schema
/** Functions that fetch what the buyer names, with the member that names it; a browser guards itself. */
const fetching = [...firstPartyServices.values()].flatMap((service) => {
  const field = FIELDS.find((name) => schemaOf(service.slug).properties[name])
  const isHere = service.needs.every((need) => need in engines)
  return field && isHere ? [{ slug: service.slug, service, field }] : []
})

type Fetching = (typeof fetching)[number]

/** A function that wants https gets it: the site is asked by plain http all the same. */
function buy({ service, field }: Fetching, url: string, web: PublicWeb = site.web()): Promise<Json> {
  const wantsTls = service.slug === 'audio_loudness_normalization'
  const address = wantsTls ? url.replace(/^http:/, 'https:') : url
  const plain: PublicWeb = {
    ...web,
    get: (to, options) => web.get(wantsTls ? to.replace(/^https:/, 'http:') : to, options),
  }
  const input: JsonInput = { use_case: 'read ducks', [field]: address }
  return Promise.resolve()
    .then(() => service.check(input, { web: plain, engines }))
    .then(() => service.run(input, new AbortController().signal, { web: plain, engines, now: () => 0 }))
}

it('many functions fetch what they are told', () => {
  expect(fetching.length).toBeGreaterThanOrEqual(10)
})

describe.each(fetching)('$slug', (one) => {
  const refused = (asked: Promise<Json>) =>
    expect(asked).rejects.toMatchObject({ code: 'input_invalid', details: [{ path: one.field }] })

  it('goes to no private, loopback, link-local or mapped address, however it is spelled', async () => {
    const { port } = victim
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '10.0.0.1',
      '192.168.1.1',
      '172.16.0.1',
      '169.254.169.254',
      '[fe80::1]',
      '[fd00::1]',
      '0.0.0.0',
    ]) {
      await refused(buy(one, `http://${host}:${port}/`))
      await refused(buy(one, `http://${host}/`))
    }
    await refused(buy(one, 'http://user:word@site.test/'))
    expect(victim.asked).toEqual([])
  })

  it('goes nowhere by a name of which any address leads inside', async () => {
    for (const addresses of [['10.0.0.7'], ['127.0.0.1'], ['93.184.216.34', '169.254.169.254']]) {
      const resolve = async () => addresses.map((address) => ({ address, family: 4 as const }))
      await refused(buy(one, 'http://inside.test/', site.web({ exempt: () => false, resolve })))
    }
    expect(victim.asked).toEqual([])
  })

  it('follows no redirect inside', async () => {
    for (const to of [`http://127.0.0.1:${victim.port}/`, 'http://169.254.169.254/', 'file:///etc/passwd']) {
      site.pages['/start'] = { status: 302, headers: { location: to } }
      await refused(buy(one, site.at('/start')))
    }
    expect(victim.asked).toEqual([])
  })

  it('does as robots.txt says', async () => {
    site.pages['/robots.txt'] = { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /private' }
    site.pages['/private'] = { body: '<title>private</title>' }
    await refused(buy(one, site.at('/private')))
    expect(site.asked).not.toContain('GET /private')
  })
})

describe.each(['website_research_context', 'openapi_draft', 'api_integration_readiness'])('%s', (slug) => {
  it('reads three pages at most, and a megabyte of each', async () => {
    const links = Array.from(
      { length: 20 },
      (_, n) => `<a href="/docs/api-reference-${n}">API reference about pricing ${n}</a>`,
    )
    const long = `<h1>API</h1><p>GET /v1/ducks</p><p>Authorization: Bearer</p>${links.join(' ')}${`<p>${'long text '.repeat(5_000)}</p>`.repeat(50)}`
    let sent = 0
    const answer: Site['pages'][string] = (_, res) => {
      res.writeHead(200, { 'content-type': 'text/html' })
      sent += long.length
      res.end(long)
    }
    for (const path of ['/', ...links.map((_, n) => `/docs/api-reference-${n}`)]) site.pages[path] = answer
    const one = fetching.find((other) => other.slug === slug)
    expect(one).toBeDefined()
    if (one) await buy(one, site.at('/')).catch(() => undefined)
    const pages = site.asked.filter((line) => !/robots|favicon|sitemap/.test(line))
    expect(pages.length).toBeGreaterThan(0)
    expect(pages.length).toBeLessThanOrEqual(3)
    expect(sent).toBe(pages.length * long.length)
  })
})

describe('a marketplace', () => {
  it('with nothing installed offers what needs nothing of this machine, and asks nobody before somebody buys', async () => {
    const world = await openFunctionWorld()
    const audio = openAudio({ path: '/nowhere' })
    const nothing = {
      audio,
      speech: openSpeech({ audio: audio.port, path: '/nowhere' }),
      translator: openTranslator({ path: '/nowhere' }),
    }
    const market = await openMarketplace({}, { ...world.ports, engines: { ...world.ports.engines, ...nothing } })
    try {
      const board = engineBoard.of(market.daemon.ctx)
      await board.ready
      const isOffered = async () => (await market.call('GET', '/v1/services/catalog?limit=100')).body.total
      const lacking = [...firstPartyServices.values()].filter(({ needs }) => board.lacking(needs).length > 0)
      const isAbsent = (slug: string) => lacking.some((one) => one.slug === slug)
      await expect.poll(isOffered).toBe(firstPartyServices.size - lacking.length)
      for (const slug of ['audio_loudness_normalization', 'translation']) expect(isAbsent(slug)).toBe(true)
      await market.call('GET', '/health')
      expect(world.site.asked).toEqual([])
      const id = await market.serviceId('translation')
      const refused = await market.call('POST', `/v1/services/${id}/purchase`, { body: {} })
      expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
      expect(refused.headers.get('retry-after')).not.toBeNull()
    } finally {
      await market.close()
      await world.close()
    }
  })
})
