import { z } from 'zod'
import type { Json } from '../../../../src/core/json.ts'
import type { BrowserPage } from '../../../ports/browser/page.ts'
import { checkAddress, robotsOf } from '../docs/pages.ts'
import { factsOfPage } from '../docs/seo-facts.ts'
import { seoRules } from '../docs/seo-rules.ts'
import type { ResultEngine } from '../service/engines.ts'
import { badness, type Finding, judgeBy, none, type Rule, rule, shownFindings } from '../service/findings.ts'
import { AUTOMATED_MS, defineService, textOf } from '../service/service.ts'
import type { WebPage } from '../web/page.ts'
import { type AxeReport, accessibilityScore, impactWeights, runAxe, undecidable } from './axe.ts'
import { engineOf } from './opened.ts'
import { shownMetrics } from './performance-analysis.ts'
import { busyNote, type Device, measure, type PageSpeed, speedScore } from './speed.ts'
import { speedRules } from './speed-rules.ts'

const MAX_MARKUP_CHARS = 1_000_000
const MAX_CHARS = 300
const MAX_SHOWN = 3

const Document = z.object({ markup: z.string(), doctype: z.boolean(), charset: z.string(), standards: z.boolean() })
const DOCUMENT = `({
  markup: document.documentElement.outerHTML.slice(0, ${MAX_MARKUP_CHARS}),
  doctype: document.doctype !== null,
  charset: String(document.characterSet),
  standards: document.compatMode === 'CSS1Compat',
})`

type Practice = PageSpeed & { readonly document: z.output<typeof Document>; readonly complaints: readonly string[] }
type Source = Practice & {
  readonly axe: AxeReport
  readonly robots: WebPage | undefined
  readonly at: number
  readonly engine: ResultEngine
}

/** Audits one page on one screen: speed, accessibility, best practices and SEO. */
export const pageQualityAudit = defineService({
  slug: 'page_quality_audit',
  needs: ['browser'],
  timeoutMs: AUTOMATED_MS,
  check: checkAddress('url'),
  async read(input, ctx): Promise<Source> {
    const device = strategyOf(textOf(input, 'strategy'))
    const seen = await measure(ctx, { input, field: 'url', device }, async (page, speed) => ({
      ...speed,
      ...(await lookedAt(page)),
    }))
    const robots = await robotsOf(ctx, new URL(seen.loaded.final_url).origin)
    return { ...seen, robots, at: ctx.now(), engine: engineOf(ctx) }
  },
  make(input, source: Source): Json {
    const strategy = strategyOf(textOf(input, 'strategy'))
    const [speed, practice, search] = [judgeBy(speedRules, source), judgeBy(practiceRules, source), searchOf(source)]
    const findings = [
      ...inCategory('performance', speed.findings),
      ...inCategory('accessibility', accessibilityFindings(source.axe)),
      ...inCategory('best_practices', practice.findings),
      ...inCategory('seo', search.findings),
    ]
    return {
      url: textOf(input, 'url').trim(),
      final_url: source.loaded.final_url,
      strategy,
      scores: {
        performance: speedScore(source.timings, strategy),
        accessibility: accessibilityScore(source.axe),
        best_practices: practice.score,
        seo: search.score,
      },
      metrics: shownMetrics(source),
      ...shownFindings(findings.sort((a, b) => badness[a.status] - badness[b.status] || b.weight - a.weight)),
      not_checked: [
        ...new Set([...speed.undecided, ...practice.undecided, ...search.undecided]),
        ...undecidable,
        ...busyNote([source.load]),
        "known vulnerabilities in the page's libraries",
        'the speed index (the other four metrics share its weight)',
      ],
      checked_at: new Date(source.at).toISOString(),
      engine: { ...source.engine, name: `axe-core ${source.axe.version} in ${source.engine.name}` },
    }
  },
})

function strategyOf(strategy: string): Device {
  return strategy === 'desktop' ? 'desktop' : 'mobile'
}

async function lookedAt(page: BrowserPage) {
  const complaints = page.complaints()
  return { document: await page.evaluate(DOCUMENT, Document), axe: await runAxe(page), complaints: [...complaints] }
}

function inCategory(category: string, findings: readonly Finding[]) {
  return findings.map((finding) => ({ ...finding, category }))
}

function accessibilityFindings({ issues, passes }: AxeReport): Finding[] {
  const found = issues.map(
    ({ id, severity, message, selector, html, count }): Finding => ({
      id,
      status: severity === 'critical' || severity === 'serious' ? 'fail' : 'warn',
      message: `${message} (elements: ${count}).`,
      evidence: `${selector} ${html}`.slice(0, MAX_CHARS).toWellFormed(),
      weight: impactWeights[severity],
    }),
  )
  return [
    ...found,
    { id: 'accessibility_rules', status: 'pass', message: `Rules passed: ${passes.length}.`, weight: 0 },
  ]
}

/** Applies the SEO rules to the page after its scripts have run. */
function searchOf({ document, loaded, robots, resources }: Source) {
  const body = Buffer.from(`<!doctype html>${document.markup}`)
  const headers = { ...loaded.headers, 'content-type': 'text/html; charset=utf-8' }
  const at = { url: loaded.final_url, status: loaded.status, truncated: false, at: 0, redirects: loaded.redirects }
  return judgeBy(seoRules, {
    page: factsOfPage({ ...at, headers, body }),
    redirects: resources.length === 0 ? 0 : loaded.redirects.length,
    hasRobots: robots !== undefined,
    sitemap: undefined,
    others: [],
  })
}

/** Errors of a page that come from the rules of this browser, and a missing icon. */
const CAUSED_BY_US = /ERR_BLOCKED_BY_CLIENT|ERR_TUNNEL|ERR_EMPTY_RESPONSE|\/favicon\.ico/
const CAUSED_BY_US_IF_BLOCKED = new RegExp(`${CAUSED_BY_US.source}|Failed to fetch`)

const practiceRules: readonly Rule<Practice>[] = [
  rule('https_only', 10, ({ loaded: { final_url } }) =>
    final_url.startsWith('https:')
      ? ['pass', 'The page is served over TLS.']
      : ['fail', 'The page is served without TLS.', final_url],
  ),
  rule('mixed_content', 8, ({ loaded: { final_url }, resources }) => {
    if (!final_url.startsWith('https:')) return undefined
    const plain = resources.filter(({ url }) => url.startsWith('http:')).map(({ url }) => url)
    return none(plain, 'All resources are loaded over TLS.', ['fail', 'Resources loaded without TLS: #.'])
  }),
  rule('console_errors', 2, ({ complaints, blocked }) => {
    const ours = blocked > 0 ? CAUSED_BY_US_IF_BLOCKED : CAUSED_BY_US
    const own = complaints.filter((text) => !ours.test(text))
    return own.length === 0
      ? ['pass', 'The console shows no errors.']
      : ['fail', `Errors in the console: ${own.length}.`, own.slice(0, MAX_SHOWN).join(' | ')]
  }),
  rule('doctype', 4, ({ document: { doctype, standards } }) =>
    doctype && standards ? ['pass', 'The page declares a doctype.'] : ['fail', 'The page is rendered in quirks mode.'],
  ),
  rule('charset', 4, ({ document: { charset } }) =>
    /^utf-8$/i.test(charset) ? ['pass', 'The page is UTF-8.'] : ['fail', 'The page is not UTF-8.', charset],
  ),
  rule('image_ratio', 3, ({ timings: { images } }) => {
    const bent = images.filter(({ distorted }) => distorted).map(({ src }) => src)
    if (images.length === 0) return undefined
    return none(bent, 'Images keep their aspect ratio.', ['warn', 'Images with a wrong aspect ratio: #.'])
  }),
  rule('content_security_policy', 4, ({ loaded: { headers }, document: { markup } }) =>
    headers['content-security-policy'] !== undefined || /http-equiv=["']?content-security-policy/i.test(markup)
      ? ['pass', 'A content security policy is set.']
      : ['warn', 'No content security policy is set.'],
  ),
]
