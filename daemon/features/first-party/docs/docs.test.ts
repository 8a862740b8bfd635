import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import { structuredWebExtraction } from '../extraction/structured-web-extraction.ts'
import { grantEligibilityBrief } from '../funding/grant-eligibility-brief.ts'
import { plainly } from '../service/grounding.ts'
import type { FirstPartyService, JsonInput } from '../service/service.ts'
import { parseHtml, textIn } from '../web/document.ts'
import { apiChangelogActions } from './api-changelog-actions.ts'
import { apiIntegrationReadiness } from './api-integration-readiness.ts'
import { html, markdown } from './docs-pages.testkit.ts'
import { openapiDraft } from './openapi-draft.ts'
import { seoAudit } from './seo-audit.ts'
import { websiteResearchContext } from './website-research-context.ts'

// @slow whole documents of many kinds are read

const AT = Date.parse('2026-06-01T12:00:00Z')
let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

const run = (service: FirstPartyService, input: JsonInput) =>
  delivered({ service, input, means: { web: site.web(), now: () => AT } })
const md = (body: string) => ({ headers: { 'content-type': 'text/markdown' }, body })

describe.each([
  ['seo_audit', seoAudit, 'site_url', {}],
  ['website_research_context', websiteResearchContext, 'url', {}],
  ['openapi_draft', openapiDraft, 'docs_url', {}],
  ['api_integration_readiness', apiIntegrationReadiness, 'docs_url', { use_case: 'send invoices' }],
  ['api_changelog_actions', apiChangelogActions, 'source_url', {}],
] as const)('%s', (...[, service, field, rest]) => {
  it.each([
    'http://127.0.0.1/',
    'http://169.254.169.254/',
    'http://[::ffff:10.0.0.1]/',
    'file:///etc/passwd',
    'http://2130706433/',
    'http://user:pw@site.test/',
    'http://site.test:8080/',
    'no address',
  ])('refuses %s before anything is paid, and asks nobody', (address) => {
    const web = site.web({ exempt: () => false })
    expect(() => service.check({ [field]: address, ...rest }, { web })).toThrow(new RegExp(`^${field}: `))
    expect(site.asked).toEqual([])
  })

  it('charges nothing for a page that is gone, that is forbidden, or that is no text', async () => {
    await expect(run(service, { [field]: site.at('/gone'), ...rest })).rejects.toMatchObject({
      code: 'provider_failed',
    })
    site.pages['/picture'] = { headers: { 'content-type': 'image/png' }, body: 'x' }
    await expect(run(service, { [field]: site.at('/picture'), ...rest })).rejects.toMatchObject({
      code: 'provider_failed',
    })
    site.pages['/robots.txt'] = { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /' }
    await expect(run(service, { [field]: site.at('/page', 'forbidden.test'), ...rest })).rejects.toMatchObject({
      code: 'input_invalid',
    })
  })

  it('ends on a page of many nested and broken tags', async () => {
    site.pages['/hostile'] = { body: `${'<div><pre><table><tr><td>'.repeat(20_000)}<a href="${'x'.repeat(3_000)}` }
    await run(service, { [field]: site.at('/hostile'), ...rest }).catch((error: unknown) => {
      expect(error).toMatchObject({
        code: 'provider_failed',
        message: expect.stringMatching(/No endpoints|no page|not API documentation|No changelog entries/),
      })
    })
  })
})

it.each([
  [apiIntegrationReadiness, 'use_case'],
  [grantEligibilityBrief, 'profile'],
] as const)('$0.slug refuses a blank %s before payment', (service, field) => {
  const input = { docs_url: 'https://site.test/', opportunity_id: '1', [field]: ' ' }
  expect(() => service.check(input, { web: site.web(), engines: {} as never })).toThrow(new RegExp(`^${field}: `))
})

/** What a search that looks far ahead from each place would take minutes over. */
const over = ['1', '1.', 'x-', 'http://', 'no ', 'webhook ', 'webhook\n\n', '1 €', '- a\n']
const LARGE_CHARS = 120_000

describe.each([
  ['website_research_context', websiteResearchContext, 'url', {}],
  ['api_integration_readiness', apiIntegrationReadiness, 'docs_url', { use_case: 'send invoices' }],
  ['structured_web_extraction', structuredWebExtraction, 'url', {}],
] as const)('%s', (...[, service, field, rest]) => {
  it.each(over)('ends on a large page of %j over and over', async (word) => {
    site.pages['/over'] = md(`# API\n\n${word.repeat(LARGE_CHARS / word.length)}`)
    const ended = await run(service, { [field]: site.at('/over'), ...rest }).catch(({ code }: { code: string }) => code)
    expect(ended === 'provider_failed' || typeof ended === 'object').toBe(true)
  })
})

describe('the audit for search engines', () => {
  const text = `<p>${'Ducks swim on the pond every day. '.repeat(40)}</p>`
  const head = (more: string) =>
    `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><meta name="description" content="${'All about ducks and the ponds they live on. '.repeat(2)}"><meta property="og:title" content="x"><meta property="og:description" content="x"><meta property="og:image" content="x"><script type="application/ld+json">{"@type":"WebSite"}</script>${more}</head>`
  const good = () =>
    `${head(`<title>Ducks and ponds</title><link rel="canonical" href="${site.at('/')}">`)}<body><h1>Ducks</h1><h2>Ponds</h2><img src="a.png" alt="a duck"><a href="/other">The other page</a>${text}</body></html>`
  const failing = async (body: string) => {
    site.pages['/'] = { body }
    site.pages['/other'] = { body: '<title>Another</title>' }
    site.pages['/robots.txt'] = {
      headers: { 'content-type': 'text/plain' },
      body: `Sitemap: ${site.at('/sitemap.xml')}`,
    }
    site.pages['/sitemap.xml'] = { headers: { 'content-type': 'application/xml' }, body: '<urlset></urlset>' }
    const result = await run(seoAudit, { site_url: site.at('/') })
    const bad = result.findings
      .filter((one: { status: string }) => one.status !== 'pass')
      .map((one: { id: string }) => one.id)
    return { result, bad: bad.filter((id: string) => id !== 'https') } // the site of the test has no TLS
  }

  it('finds nothing but the missing TLS in a good page', async () => {
    const { result, bad } = await failing(good())
    expect(bad).toEqual([])
    expect(result).toMatchObject({
      score: expect.any(Number),
      robots: { found: true, sitemaps: [site.at('/sitemap.xml')] },
      pages: [{ indexable: true, h1: ['Ducks'] }, { title: 'Another' }],
    })
    expect(result.score).toBeGreaterThan(90)
    expect(result.engine).toEqual({ name: 'souk', version: '1', kind: 'deterministic' })
  })

  const robots = (rule: string) => (page: string) =>
    page.replace('</head>', `<meta name="robots" content="${rule}"></head>`)
  it.each<[string, (page: string) => string, string[]]>([
    ['noindex', robots('noindex'), ['indexable']],
    ['no rule of pictures', robots('max-image-preview:none'), []],
    ['no link with a labelled icon', (page) => page.replace('The other page', '<i aria-label="Other ponds"></i>'), []],
    ['no title', (page) => page.replace(/<title>.*?<\/title>/, ''), ['title']],
    ['a short title', (page) => page.replace(/<title>.*?<\/title>/, '<title>Duck</title>'), ['title_length']],
    ['no description', (page) => page.replace(/<meta name="description"[^>]*>/, ''), ['description']],
    ['two main headings', (page) => page.replace('<h2>', '<h1>Two</h1><h2>'), ['one_h1']],
    ['a skipped level', (page) => page.replace('<h2>Ponds</h2>', '<h4>Ponds</h4>'), ['heading_order']],
    [
      'another canonical page',
      (page) => page.replace(/(rel="canonical" href=")[^"]*/, '$1https://else.test/'),
      ['canonical'],
    ],
    [
      'a canonical page that is none',
      (page) => page.replace(/(rel="canonical" href=")[^"]*/, '$1javascript:alert(1)'),
      ['canonical'],
    ],
    [
      'two canonical pages',
      (page) => page.replace('</head>', '<link rel="canonical" href="https://else.test/"></head>'),
      ['canonical'],
    ],
    ['no language', (page) => page.replace(' lang="en"', ''), ['lang']],
    ['no viewport', (page) => page.replace(/<meta name="viewport"[^>]*>/, ''), ['viewport']],
    ['a picture without words', (page) => page.replace(' alt="a duck"', ''), ['image_alternatives']],
    ['a vague link', (page) => page.replace('The other page', 'click here'), ['link_texts']],
    ['broken structured data', (page) => page.replace('{"@type":"WebSite"}', '{"@type":'), ['structured_data']],
    [
      'nothing in microdata',
      (page) =>
        page
          .replace('{"@type":"WebSite"}', '[]')
          .replace(/<script.*?<\/script>/, '')
          .replace('<body>', '<body itemscope itemtype="https://schema.org/WebSite">'),
      [],
    ],
    ['no picture to share', (page) => page.replace(/<meta property="og:image"[^>]*>/, ''), ['open_graph']],
    ['few words', (page) => page.replace(text, '<p>Ducks.</p>'), ['words']],
    [
      'wrong languages',
      (page) => page.replace('</head>', '<link rel="alternate" hreflang="english" href="/en"></head>'),
      ['hreflang'],
    ],
    ['twin titles', (page) => page.replace('Ducks and ponds', 'Another'), ['title_length', 'unique_titles']],
  ])('names %s, and nothing else', async (_, change, faults) => {
    expect((await failing(change(good()))).bad.sort()).toEqual(faults)
  })
})

describe('the context of a site', () => {
  it('reads the three pages that tell most, and quotes what it found', async () => {
    const menu = ['blog/2024/05/post', 'pricing', 'about', 'legal/cookies', 'contact']
      .map((path) => `<a href="/${path}">${path}</a>`)
      .join(' ')
    site.pages['/'] = {
      body: `<title>Duck Co</title><meta name="description" content="We build ponds."><nav>${menu}</nav><script>var secret = "scripted words"</script><main><p>We build ponds for ducks in 12 countries. Write to hello@duck.test.</p></main>`,
    }
    site.pages['/about'] = {
      body: '<title>About</title><main><p>Duck Co was founded in 1999. It is headquartered in Bremen.</p></main>',
    }
    site.pages['/pricing'] = { body: '<title>Pricing</title><main><p>A pond is $49 per month.</p></main>' }
    site.pages['/contact'] = { body: '<title>Contact</title>' }
    const { dossier, agent_context_markdown } = await run(websiteResearchContext, { url: site.at('/'), maxPages: 3 })
    expect(dossier.pages.map(({ url }: { url: string }) => new URL(url).pathname)).toEqual(['/', '/about', '/pricing'])
    expect(site.asked).not.toContain('GET /blog/2024/05/post')
    const values = dossier.facts.map(({ label, value }: { label: string; value: string }) => `${label} ${value}`)
    expect(values).toEqual(
      expect.arrayContaining(['founded 1999', 'headquarters Bremen', 'price $49 per month', 'countries 12']),
    )
    for (const { quote, source_url } of dossier.facts) {
      expect(String((site.pages[new URL(source_url).pathname] as { body: string }).body)).toContain(quote)
    }
    expect(dossier.contacts).toEqual([expect.objectContaining({ kind: 'email', value: 'hello@duck.test' })])
    expect(JSON.stringify(dossier) + agent_context_markdown).not.toContain('scripted words')
    expect(agent_context_markdown).toContain('as untrusted')
    expect(Buffer.byteLength(agent_context_markdown)).toBeLessThanOrEqual(24_000)
  })

  it.each<[string, readonly string[], string]>([
    ['German', ['/%C3%BCber-uns', '/produkte', '/kontakt'], 'Die Firma wurde 1984 gegründet. Sie hat 120 Mitarbeiter.'],
    ['French', ['/a-propos', '/produits', '/contact'], 'Fondée en 1984. Nous avons 120 collaborateurs.'],
    ['Spanish', ['/quienes-somos', '/productos', '/contacto'], 'Fundada en 1984. Tenemos 120 empleados.'],
    ['Italian', ['/chi-siamo', '/prodotti', '/contatti'], 'Fondata nel 1984. Abbiamo 120 dipendenti.'],
  ])('reads a site in %s', async (_, [about = '', product = '', contact = ''], said) => {
    const menu = ['/impressum-alt/2019', '/karriere', contact, product, about].map((path) => `<a href="${path}">x</a>`)
    site.pages['/'] = {
      body: `<title>WP</title><nav>${menu.join(' ')}</nav><main><p>WP. Tel. +49 421 123456.</p></main>`,
    }
    site.pages[about] = { body: `<title>A</title><main><p>${said}</p></main>` }
    site.pages[product] = { body: '<title>P</title><main><p>WP-12: 8.900 €.</p></main>' }
    const { dossier } = await run(websiteResearchContext, { url: site.at('/'), maxPages: 3 })
    expect(dossier.pages.map(({ kind }: { kind: string }) => kind)).toEqual(['start', 'about', 'product'])
    const values = dossier.facts.map(({ label, value }: { label: string; value: string }) => `${label} ${value}`)
    expect(values).toEqual(['founded 1984', 'employees 120', 'price 8.900 €'])
    expect(dossier.contacts).toEqual([{ kind: 'phone', value: '+49 421 123456', source_url: site.at('/') }])
  })

  it('tells every fact with its sentence, and none without a number', async () => {
    const said =
      'Ponds from $9 per month, or $90 per year. It is used by our. customers and 1,200 teams in 12 countries. In G1 users have $6$k6y3o.'
    site.pages['/'] = { body: `<title>Duck</title><main><p>${said}</p></main>` }
    const { dossier } = await run(websiteResearchContext, { url: site.at('/'), maxPages: 1 })
    expect(dossier.facts.map(({ label, value, quote }: Record<string, string>) => [label, value, quote])).toEqual([
      ['price', '$9 per month', 'Ponds from $9 per month, or $90 per year.'],
      ['price', '$90 per year', 'Ponds from $9 per month, or $90 per year.'],
      ['customers', '1,200', expect.stringContaining('1,200 teams')],
      ['countries', '12', expect.stringContaining('12 countries')],
    ])
  })

  it('takes versions for no addresses, posts for no profiles, and the first sentence for its purpose', async () => {
    site.pages['/'] = {
      body: `<title>Pond.js</title><main><h2>Downloads of Pond.js</h2><p>Install pond@1.13.4 now, from git@github.com:ducks/pond.</p><p>Note: these words are about ducks alone.</p>
<p>Pond.js is a library for ducks that need a pond. Write to Help@duck.co.uk.</p>
<a href="https://github.com/ducks/pond">code</a> <a href="https://github.com/ducks/pond/compare/1...2">what changed</a></main>`,
    }
    const { dossier } = await run(websiteResearchContext, { url: site.at('/'), maxPages: 1 })
    expect(dossier.description).toBe('Pond.js is a library for ducks that need a pond.')
    expect(dossier.contacts).toEqual([expect.objectContaining({ value: 'help@duck.co.uk' })])
    expect(dossier.social).toEqual(['https://github.com/ducks/pond'])
  })

  it('does not read the start page twice under its file name', async () => {
    site.pages['/'] = { body: '<title>D</title><a href="/index.html">About</a> <a href="/contact">Contact</a>' }
    site.pages['/index.html'] = site.pages['/']
    site.pages['/contact'] = { body: '<title>C</title>' }
    const { dossier } = await run(websiteResearchContext, { url: site.at('/'), maxPages: 3 })
    expect(dossier.pages.map(({ url }: { url: string }) => new URL(url).pathname)).toEqual(['/', '/contact'])
  })

  it('says how many facts a list leaves out', async () => {
    site.pages['/'] = {
      body: `<main>${Array.from({ length: 34 }, (_, at) => `<p>Pond $${at}.50</p>`).join('')}</main>`,
    }
    const { dossier } = await run(websiteResearchContext, { url: site.at('/'), maxPages: 1 })
    expect(dossier.facts).toHaveLength(30)
    expect(dossier.not_checked).toContain('4 more facts on the listed pages')
  })

  it('reads one page where one is asked for', async () => {
    site.pages['/'] = { body: '<title>Duck</title><a href="/about">About</a>' }
    site.pages['/about'] = { body: 'x' }
    expect((await run(websiteResearchContext, { url: site.at('/'), maxPages: 1 })).dossier.pages).toHaveLength(1)
  })
})

describe('readiness for an integration', () => {
  const assess = async (use_case: string, target_stack?: string) =>
    (
      await run(apiIntegrationReadiness, {
        docs_url: site.at('/docs'),
        use_case,
        ...(target_stack ? { target_stack } : {}),
      })
    ).api_integration_readiness

  it('is ready where the documentation says what the use needs, with its words', async () => {
    site.pages['/docs'] = {
      body: `${html}<p>Idempotency-Key makes retries safe. Use the sandbox. See our terms and deprecation policy. Webhooks tell you. Lists use cursor pagination.</p>`,
    }
    const made = await assess('Create ducks for orders and read them')
    expect(made).toMatchObject({ readiness: 'ready', gaps: [] })
    expect(made.endpoints[0].path).toContain('/v1/ducks')
    const said = textIn(parseHtml(String((site.pages['/docs'] as { body: string }).body)))
    const quotes = made.requirements.flatMap(({ evidence }: { evidence?: { quote: string } }) => evidence ?? [])
    expect(quotes.length).toBeGreaterThan(8)
    for (const { quote, url } of quotes) {
      expect(url).toBe(site.at('/docs'))
      // Word for word; between its lines and cells a page has more room.
      expect(plainly(said)).toContain(plainly(quote))
    }
  })

  it.each([
    ['webhooks', 'Receive an event for every duck', 'partial'],
    ['idempotency', 'Charge payments for ducks', 'partial'],
    ['endpoints', 'Translate poems', 'blocked'],
  ])('names the gap %s', async (area, use_case, readiness) => {
    site.pages['/docs'] = {
      body: `${html}<p>Use the sandbox. See our terms and deprecation policy. Lists use cursor pagination.</p>`,
    }
    const made = await assess(use_case)
    const missing = made.requirements
      .filter((one: { status: string; needed: boolean }) => one.status !== 'found' && one.needed)
      .map((one: { area: string }) => one.area)
    expect(missing).toEqual([area])
    expect(made.readiness).toBe(readiness)
  })

  it.each([
    ['Webhooks are not supported yet.', 'missing'],
    ['We do not offer any webhooks; please poll.', 'missing'],
    ['There are no webhooks.', 'missing'],
    ['This interface has no support for webhooks.', 'missing'],
    ['<h3>Webhooks</h3><p>Not available at the moment.</p>', 'missing'],
    ['<h3>Webhooks</h3><h3>Colours</h3>', 'unclear'],
    ['Webhooks are not available on the free plan. Webhooks tell you of every duck.', 'unclear'],
    ['<h3>Webhooks</h3><p>You are told of every duck.</p>', 'found'],
    ['Webhooks do not include the whole duck.', 'found'],
    ['Subscribe to the changes of a duck at your own address.', 'found'],
    ['You cannot have more than five webhooks.', 'found'],
    ['We do not charge for calls, and webhooks tell you of every duck.', 'found'],
  ])('takes %j for what it says of webhooks', async (said, status) => {
    site.pages['/docs'] = {
      body: `${html}<p>Use the sandbox. See our terms and deprecation policy.</p><div>${said}</div>`,
    }
    const made = await assess('Receive an event for every duck')
    const webhooks = made.requirements.find(({ area }: { area: string }) => area === 'webhooks')
    expect([webhooks.status, made.readiness]).toEqual([status, status === 'found' ? 'ready' : 'partial'])
    expect(made.gaps.filter((gap: string) => gap.startsWith('Webhooks'))).toHaveLength(status === 'found' ? 0 : 1)
    expect(textIn(parseHtml(said))).toContain(webhooks.evidence.quote)
  })

  it.each([
    ['in many lines', 2],
    ['in one line', 0],
  ])('reads what the makers publish %s, where the page itself is a frame around it', async (_, indent) => {
    site.pages['/docs'] = {
      body: '<title>Docs</title><div id="ui"></div><script>SwaggerUI({ url: "/openapi.json" })</script>',
    }
    const ok = { responses: { 200: { description: 'ok' }, 404: { description: 'not found' } } }
    const body = JSON.stringify(
      {
        openapi: '3.0.3',
        info: {
          title: 'Pond',
          version: '1',
          description: 'Use the sandbox. See our terms of use. At most 60 requests per minute.',
        },
        servers: [{ url: 'https://api.pond.test/v1' }],
        paths: { '/ducks': { get: { summary: 'List ducks', ...ok } } },
        components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Pond-Key' } } },
      },
      null,
      indent,
    )
    site.pages['/openapi.json'] = { headers: { 'content-type': 'application/json' }, body }
    const made = await assess('Read ducks', 'TypeScript')
    expect(made.endpoints).toEqual([{ method: 'GET', path: '/ducks', relevance: 0.5 }])
    const status = Object.fromEntries(
      made.requirements.map((one: { area: string; status: string }) => [one.area, one.status]),
    )
    expect(status).toMatchObject({
      auth: 'found',
      base_url: 'found',
      endpoints: 'found',
      errors: 'found',
      limits: 'found',
      sdk: 'found',
    })
    for (const { evidence } of made.requirements) if (evidence) expect(body).toContain(evidence.quote)
  })

  it('charges nothing for the manual of a library that names one thing of an API', async () => {
    site.pages['/docs'] = md('# Ducks\n\nA client library that makes addresses for a duck service.\n')
    await expect(assess('Resize ducks')).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it('is blocked where nothing says how to authenticate', async () => {
    site.pages['/docs'] = md(markdown)
    expect(await assess('List ducks')).toMatchObject({ readiness: 'blocked' })
  })
})
