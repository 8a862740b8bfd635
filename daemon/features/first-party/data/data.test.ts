import type { IncomingMessage, ServerResponse } from 'node:http'
import { text as textOfStream } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openUpstream } from '../../../ports/upstream/upstream.ts'
import { openSite, type Page, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import type { FirstPartyService, JsonInput } from '../service/service.ts'
import { cryptoPrice } from './crypto-price.ts'
import { dependencyVulnerabilityAudit } from './dependency-vulnerability-audit.ts'
import { stockData } from './stock-data.ts'
import { weather } from './weather.ts'

const AT = Date.parse('2026-06-01T00:00:00Z')
let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

/** An upstream at a path of the test's site: fresh, so that nothing is kept between tests. */
const upstream = (path: string) =>
  openUpstream({
    web: site.web({ exempt: () => false }),
    wall: () => AT,
    name: 'It',
    base: site.at(path),
    fix: 'nothing',
  })
const engines = () => ({
  advisories: upstream('/osv'),
  coins: upstream('/coins'),
  geocoding: upstream('/geo'),
  market: upstream('/market'),
  weather: upstream('/weather'),
})
const run = (service: FirstPartyService, input: JsonInput, means = engines()) =>
  delivered({ service, input, means: { web: site.web(), engines: means, now: () => AT } })
const json = (value: unknown) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) })

const forecast = {
  timezone: 'Europe/Berlin',
  utc_offset_seconds: 7_200,
  current: { time: '2026-06-01T02:00', temperature_2m: 12.5, weather_code: 61, wind_speed_10m: 9, is_day: 0 },
  daily: {
    time: ['2026-06-01'],
    temperature_2m_min: [8],
    temperature_2m_max: [19],
    precipitation_sum: [1.5],
    precipitation_probability_max: [80],
    weather_code: [61],
    wind_speed_10m_max: [20],
    sunrise: ['2026-06-01T05:00'],
    sunset: ['2026-06-01T21:40'],
  },
}

describe('weather', () => {
  it('is of the place asked for, at the time of the place', async () => {
    site.pages['/geo/search'] = json({
      results: [{ name: 'Bremen', country: 'Germany', latitude: 53.1, longitude: 8.8 }],
    })
    site.pages['/weather/forecast'] = json(forecast)
    expect(await run(weather, { city: 'bremen', include_forecast: true })).toMatchObject({
      place: 'Bremen',
      temperature_c: 12.5,
      conditions: 'light rain',
      is_day: false,
      observed_at: '2026-06-01T02:00:00+02:00',
      forecast: [{ date: '2026-06-01', min_c: 8, precipitation_chance_pct: 80 }],
      attribution: expect.stringContaining('CC BY'),
      engine: { kind: 'upstream' },
    })
    expect(site.asked[1]).toContain('latitude=53.1')
  })

  it('is of the region or country named after a comma, and says which', async () => {
    const place = { name: 'Springfield', country: 'United States', country_code: 'US' }
    const results = [
      { ...place, admin1: 'Missouri', latitude: 37.2, longitude: -93.3 },
      { ...place, admin1: 'Illinois', latitude: 39.8, longitude: -89.6 },
    ]
    site.pages['/geo/search'] = json({ results })
    site.pages['/weather/forecast'] = json(forecast)
    const of = (city: string) => run(weather, { city })
    expect(await of('Springfield')).toMatchObject({ region: 'Missouri', lat: 37.2 })
    expect(await of('springfield, illinois, US')).toMatchObject({ place: 'Springfield', region: 'Illinois', lat: 39.8 })
    expect(await of('Springfield, Missouri, USA')).toMatchObject({ region: 'Missouri' })
    await expect(of('Springfield, Ohio')).rejects.toMatchObject({ code: 'input_invalid' })
  })

  it('takes coordinates before a city, and no half of them', async () => {
    const { is_day: _, ...current } = forecast.current
    site.pages['/weather/forecast'] = json({ ...forecast, current, daily: undefined })
    const there = await run(weather, { city: 'Home', lat: 1, lon: 2 })
    expect(there).toMatchObject({ place: 'Home', lat: 1, lon: 2, is_day: null })
    expect(site.asked).toHaveLength(1)
    expect(() => weather.check({ lat: 1 })).toThrow(/^lon: /)
    expect(() => weather.check({ lat: 91, lon: 1 })).toThrow(/^lat: /)
  })

  it('of a city that nobody knows is refused', async () => {
    site.pages['/geo/search'] = json({})
    await expect(run(weather, { city: 'Atlantis' })).rejects.toMatchObject({
      code: 'input_invalid',
      details: [{ path: 'city' }],
    })
  })
})

describe('vulnerabilities of dependencies', () => {
  const record = (id: string, more: object = {}) => ({
    id,
    aliases: ['CVE-2026-1'],
    summary: 'Ducks escape',
    database_specific: { severity: 'MODERATE' },
    affected: [
      {
        package: { name: 'pond', ecosystem: 'npm' },
        ranges: [
          {
            type: 'SEMVER',
            events: [{ introduced: '0' }, { fixed: '1.2.10' }, { introduced: '2.0.0' }, { fixed: '2.1.0' }],
          },
        ],
      },
    ],
    ...more,
  })
  const batches = (answers: readonly unknown[]) => {
    const asked: { queries: { package: { name: string }; version: string; page_token?: string }[] }[] = []
    site.pages['/osv/v1/querybatch'] = async (req: IncomingMessage, res: ServerResponse) => {
      asked.push(JSON.parse(await textOfStream(req)))
      res.end(JSON.stringify(answers[asked.length - 1]))
    }
    return asked
  }

  it('are found for a package under a name of its own, by the name that it has', async () => {
    const asked = batches([{ results: [{}, {}] }])
    await run(dependencyVulnerabilityAudit, {
      ecosystem: 'npm',
      dependencies: { mine: 'npm:lodash@4.17.20', ours: 'npm:@pond/duck@^1.0.0' },
    })
    expect(asked[0]?.queries).toEqual([
      { package: { name: 'lodash', ecosystem: 'npm' }, version: '4.17.20' },
      { package: { name: '@pond/duck', ecosystem: 'npm' }, version: '1.0.0' },
    ])
  })

  it('are found for exact versions and for the least of a range, over pages, without what was withdrawn', async () => {
    const asked = batches([
      { results: [{ vulns: [{ id: 'A-1' }], next_page_token: 'more' }, {}] },
      { results: [{ vulns: [{ id: 'A-2' }, { id: 'MAL-1' }, { id: 'GONE' }] }] },
    ])
    site.pages['/osv/v1/vulns/A-1'] = json(record('A-1'))
    site.pages['/osv/v1/vulns/A-2'] = json(record('A-2', { withdrawn: '2026-01-01T00:00:00Z' }))
    site.pages['/osv/v1/vulns/MAL-1'] = json(record('MAL-1', { aliases: [] }))
    const result = await run(dependencyVulnerabilityAudit, {
      ecosystem: 'Node',
      dependencies: {
        pond: '^1.2.3',
        lake: '1.0.0',
        tagged: 'latest',
        local: 'workspace:*',
        git: 'git+https://x.test/y',
      },
    })
    expect(asked[0]?.queries.map(({ version }) => version)).toEqual(['1.2.3', '1.0.0'])
    expect(asked[1]?.queries).toEqual([
      { package: { name: 'pond', ecosystem: 'npm' }, version: '1.2.3', page_token: 'more' },
    ])
    expect(result).toMatchObject({
      ecosystem: 'npm',
      checked: 2,
      vulnerable: 1,
      totals: { critical: 1, moderate: 1, unknown: 1 },
    })
    const [malware, known, lost] = result.vulnerabilities
    expect(malware).toMatchObject({ advisory: 'MAL-1', malware: true, severity: 'critical' })
    expect(known).toMatchObject({
      advisory: 'A-1',
      assumed: true,
      severity: 'moderate',
      fix: '1.2.10',
      fixed_in: ['1.2.10', '2.1.0'],
    })
    expect(lost).toMatchObject({ advisory: 'GONE', severity: 'unknown' })
    expect(result.unresolved.map((one: { package: string }) => one.package)).toEqual(['tagged', 'local', 'git'])
  })

  it.each([
    ['what the database says', { database_specific: { severity: 'LOW' } }, 'low', 9.8],
    ['what its score comes to, where it says nothing', { database_specific: undefined }, 'critical', 9.8],
    ['nothing where there is neither', { database_specific: undefined, severity: [] }, 'unknown', undefined],
  ])('are as bad as %s', async (...[, more, severity, score]) => {
    batches([{ results: [{ vulns: [{ id: 'A-1' }] }] }])
    const severities = [
      { type: 'CVSS_V4', score: 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N' },
      { type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' },
    ]
    site.pages['/osv/v1/vulns/A-1'] = json(record('A-1', { severity: severities, ...more }))
    const result = await run(dependencyVulnerabilityAudit, { ecosystem: 'npm', dependencies: { pond: '1.0.0' } })
    expect(result.vulnerabilities[0].severity).toBe(severity)
    expect(result.vulnerabilities[0].cvss?.score).toBe(score)
  })

  it('of one flaw that two databases describe are one, with the fix of its own branch, however the name is written', async () => {
    const aliases = ['CVE-2022-34265']
    const range = (introduced: string, fixed: string) => ({
      package: { name: 'zope-interface', ecosystem: 'PyPI' },
      ranges: [{ type: 'ECOSYSTEM', events: [{ introduced }, { fixed }] }],
    })
    const affected = [range('3.2', '3.2.14'), range('4.0', '4.0.6')]
    batches([{ results: [{ vulns: [{ id: 'PYSEC-1' }, { id: 'GHSA-1' }] }] }])
    site.pages['/osv/v1/vulns/PYSEC-1'] = json(record('PYSEC-1', { aliases, affected, database_specific: undefined }))
    site.pages['/osv/v1/vulns/GHSA-1'] = json(record('GHSA-1', { aliases, affected }))
    const dependencies = { 'Zope.Interface': '3.2' }
    const result = await run(dependencyVulnerabilityAudit, { ecosystem: 'pip', dependencies })
    expect(result.vulnerabilities).toMatchObject([{ advisory: 'GHSA-1', fix: '3.2.14', fixed_in: ['3.2.14', '4.0.6'] }])
    expect(result.totals).toMatchObject({ moderate: 1, unknown: 0 })
  })

  it('are looked up at the least version that a range of another ecosystem allows', async () => {
    const asked = batches([{ results: [{}, {}, {}, {}] }])
    const dependencies = {
      'exact[socks]': '==4.2.1',
      compatible: '~=2.0',
      least: '>=1.4, <2',
      most: '<3',
      any: '*',
      gem: '~> 6.1',
    }
    const result = await run(dependencyVulnerabilityAudit, { ecosystem: 'pip', dependencies })
    expect(asked[0]?.queries[0]?.package.name).toBe('exact')
    expect(asked[0]?.queries.map(({ version }) => version)).toEqual(['4.2.1', '2.0', '1.4', '6.1'])
    expect(result.unresolved.map((one: { package: string }) => one.package)).toEqual(['most', 'any'])
  })

  it('are no notices that a package is no longer maintained', async () => {
    const kinds = { 'R-1': 'unmaintained', 'R-2': 'unsound' }
    batches([{ results: [{ vulns: Object.keys(kinds).map((id) => ({ id })) }] }])
    for (const [id, informational] of Object.entries(kinds))
      site.pages[`/osv/v1/vulns/${id}`] = json({ id, affected: [{ database_specific: { informational } }] })
    const result = await run(dependencyVulnerabilityAudit, { ecosystem: 'cargo', dependencies: { pond: '1.0.0' } })
    expect(result.vulnerabilities.map((one: { advisory: string }) => one.advisory)).toEqual(['R-2'])
  })

  it.each([{}, { pond: 'latest' }])('of nothing to look up fail: %j', async (dependencies) => {
    const asked = run(dependencyVulnerabilityAudit, { ecosystem: 'npm', dependencies })
    await expect(asked).rejects.toMatchObject({ code: 'input_invalid', details: [{ path: 'dependencies' }] })
  })

  it('are asked for in one batch, and none is a result', async () => {
    const dependencies = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`p${at}`, '1.0.0']))
    const asked = batches([{ results: Array(500).fill({}) }, { results: [] }])
    expect(await run(dependencyVulnerabilityAudit, { ecosystem: 'npm', dependencies })).toMatchObject({
      checked: 500,
      vulnerable: 0,
    })
    expect(asked).toHaveLength(1)
    const half = run(dependencyVulnerabilityAudit, { ecosystem: 'npm', dependencies: { other: '1.0.0' } })
    await expect(half).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it('of an ecosystem that nobody knows are refused before payment', () => {
    expect(() => dependencyVulnerabilityAudit.check({ ecosystem: 'cobol' })).toThrow(/^ecosystem: must be one of npm/)
  })
})

/** As each of them says that it gives nothing now. */
const refusals: readonly (readonly [string, string, Page])[] = [
  [
    'CoinGecko',
    'was asked too often',
    { status: 429, body: '{"status":{"error_code":429,"error_message":"secret words"}}' },
  ],
  [
    'CoinGecko',
    'does not take the key',
    { status: 401, body: '{"status":{"error_code":10002,"error_message":"secret words"}}' },
  ],
  [
    'CoinGecko',
    'says it with the status of an answer',
    { body: '{"status":{"error_code":429,"error_message":"secret words"}}' },
  ],
  ['Open-Meteo', 'was asked too often', { status: 429, body: '{"error":true,"reason":"secret words"}' }],
  ['Open-Meteo', 'refuses a variable', { status: 400, body: '{"error":true,"reason":"secret words"}' }],
  ['Open-Meteo', 'says it with the status of an answer', { body: '{"error":true,"reason":"secret words"}' }],
  ['Twelve Data', 'was asked too often', { body: '{"code":429,"message":"secret words","status":"error"}' }],
  [
    'Twelve Data',
    'does not take the key',
    { status: 401, body: '{"code":401,"message":"secret words","status":"error"}' },
  ],
]
const pages = { CoinGecko: '/coins/simple/price', 'Open-Meteo': '/weather/forecast', 'Twelve Data': '/market/quote' }
const html: Page = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>secret words</title>' }
const everywhere = Object.keys(pages).flatMap((name): (readonly [string, string, Page])[] => [
  [name, 'answers a page', html],
  [name, 'answers a page for an error', { ...html, status: 503 }],
  [name, 'breaks off', { body: '{"symbol":' }],
])

describe.each([...refusals, ...everywhere])('%s that %s', (name, _, page) => {
  it('charges nothing, blames no field and passes none of its words on', async () => {
    // Longer than anybody would wait.
    const busy = { ...page, headers: { ...page.headers, 'retry-after': '60' } }
    for (const path of Object.values(pages)) site.pages[path] = busy
    const asked: Readonly<Record<string, () => Promise<unknown>>> = {
      CoinGecko: () => run(cryptoPrice, { coin_id: 'duck' }),
      'Open-Meteo': () => run(weather, { lat: 1, lon: 2 }),
      'Twelve Data': () => run(stockData, { symbol: 'DUCK' }),
    }
    const error = await asked[name]?.().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'provider_failed', message: expect.not.stringContaining('secret') })
    expect(error).not.toHaveProperty('details.0')
  })
})

describe('an upstream', () => {
  const input = { coin_id: 'duck' }
  it.each([
    ['answers junk', { body: '<html>' }],
    ['answers another shape', json([1])],
    ['answers too much', { body: `{"a": "${'x'.repeat(2_000_000)}"}` }],
    ['fails', { status: 500 }],
    ['refuses its key', { status: 401 }],
    ['leads elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
  ])('that %s charges nothing', async (_, page) => {
    site.pages['/coins/simple/price'] = page
    await expect(run(cryptoPrice, input)).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it('is asked once more when it is busy for a moment', async () => {
    let count = 0
    site.pages['/coins/simple/price'] = (_: IncomingMessage, res: ServerResponse) => {
      count += 1
      if (count === 1) res.writeHead(429, { 'retry-after': '0' }).end()
      else res.end('{"duck": {"usd": 1}}')
    }
    expect(await run(cryptoPrice, input)).toMatchObject({ price: 1 })
  })

  it('that fails again and again is left alone, and says so', async () => {
    let now = AT
    const coins = openUpstream({
      web: site.web(),
      wall: () => now,
      name: 'It',
      base: site.at('/coins'),
      fix: 'nothing',
    })
    site.pages['/coins/simple/price'] = { body: 'junk' }
    const means = { ...engines(), coins }
    for (let tries = 0; tries < 5; tries += 1)
      await expect(run(cryptoPrice, input, means)).rejects.toMatchObject({ code: 'provider_failed' })
    expect(coins.standing().status).toBe('failing')
    await expect(run(cryptoPrice, input, means)).rejects.toMatchObject({ code: 'unavailable', retryAfter: 60 })
    expect(site.asked).toHaveLength(5)
    now += 61_000
    site.pages['/coins/simple/price'] = json({ duck: { usd: 2 } })
    expect(await run(cryptoPrice, input, means)).toMatchObject({ price: 2 })
  })

  it('that is not configured says so, and its service does not run', async () => {
    const coins = openUpstream({ web: site.web(), wall: () => AT, name: 'It', base: undefined, fix: 'coins.url' })
    expect(coins.standing()).toMatchObject({ status: 'unconfigured', fix: 'coins.url' })
    await expect(run(cryptoPrice, input, { ...engines(), coins })).rejects.toMatchObject({ code: 'unavailable' })
  })
})
