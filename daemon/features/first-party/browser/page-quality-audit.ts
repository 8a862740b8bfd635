import { z } from 'zod'
import type { Json } from '../../../../src/core/json.ts'
import type { BrowserPage } from '../../../ports/browser/page.ts'
import { checkAddress, readFurther } from '../docs/pages.ts'
import { factsOfPage } from '../docs/seo-facts.ts'
import { seoRules } from '../docs/seo-rules.ts'
import type { ResultEngine } from '../service/engines.ts'
import { type Finding, judgeBy, type Rule, rule, shownFindings } from '../service/findings.ts'
import { AUTOMATED_MS, defineService, textOf } from '../service/service.ts'
import type { WebPage } from '../web/page.ts'
import { type AxeReport, accessibilityScore, runAxe, undecidable } from './axe.ts'
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
    const robots = await readFurther(ctx, `${new URL(seen.loaded.final_url).origin}/robots.txt`)
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
        accessibility: accessibilityScore(source.axe.issues),
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

const badness = { fail: 0, warn: 1, pass: 2 } as const
const impactOf = { critical: 10, serious: 7, moderate: 3, minor: 1 } as const

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
      message: `${message} (${count} elements).`,
      evidence: `${selector} ${html}`.slice(0, MAX_CHARS).toWellFormed(),
      weight: impactOf[severity],
    }),
  )
  return [...found, { id: 'accessibility_rules', status: 'pass', message: `${passes} rules passed.`, weight: 0 }]
}

/** Applies the SEO rules to the page after its scripts have run. */
function searchOf({ document, loaded, robots, resources }: Source) {
  const body = Buffer.from(`<!doctype html>${document.markup}`)
  const headers = { ...loaded.headers, 'content-type': 'text/html; charset=utf-8' }
  const at = { url: loaded.final_url, status: loaded.status, truncated: false, at: 0, redirects: loaded.redirects }
  return judgeBy(seoRules, {
    page: factsOfPage({ ...at, headers, body }),
    redirects: resources.length === 0 ? 0 : loaded.redirects.length,
    robots: { found: robots !== undefined, allows: true, sitemaps: [] }, // the page was opened, so robots.txt allows it
    sitemapIsRead: undefined,
    others: [],
  })
}

const practiceRules: readonly Rule<Practice>[] = [
  rule('https_only', 10, ({ loaded: { final_url } }) =>
    final_url.startsWith('https:')
      ? ['pass', 'The page is served over TLS.']
      : ['fail', 'The page is served without TLS.', final_url],
  ),
  rule('mixed_content', 8, ({ loaded: { final_url }, resources }) => {
    if (!final_url.startsWith('https:')) return undefined
    const plain = resources.filter(({ url }) => url.startsWith('http:')).map(({ url }) => url)
    return plain.length === 0
      ? ['pass', 'All resources are loaded over TLS.']
      : ['fail', `${plain.length} resources are loaded without TLS.`, plain.slice(0, MAX_SHOWN).join(' ')]
  }),
  rule('console_errors', 6, ({ complaints }) => {
    const own = complaints.filter((text) => !/ERR_BLOCKED_BY_CLIENT|ERR_TUNNEL|ERR_EMPTY_RESPONSE|favicon/.test(text))
    return own.length === 0
      ? ['pass', 'No script errors occurred.']
      : ['fail', `${own.length} script errors occurred.`, own.slice(0, MAX_SHOWN).join(' | ')]
  }),
  rule('doctype', 4, ({ document: { doctype, standards } }) =>
    doctype && standards ? ['pass', 'The page declares a doctype.'] : ['fail', 'The page is rendered in quirks mode.'],
  ),
  rule('charset', 4, ({ document: { charset } }) =>
    /^utf-8$/i.test(charset) ? ['pass', 'The page is UTF-8.'] : ['fail', 'The page is not UTF-8.', charset],
  ),
  rule('image_ratio', 3, ({ timings: { images } }) => {
    const bent = images.filter(({ distorted }) => distorted)
    if (images.length === 0) return undefined
    return bent.length === 0
      ? ['pass', 'Images keep their aspect ratio.']
      : [
          'warn',
          `${bent.length} images are distorted (wrong aspect ratio).`,
          bent
            .map(({ src }) => src)
            .slice(0, MAX_SHOWN)
            .join(' '),
        ]
  }),
  rule('content_security_policy', 4, ({ loaded: { headers }, document: { markup } }) =>
    headers['content-security-policy'] !== undefined || /http-equiv=["']?content-security-policy/i.test(markup)
      ? ['pass', 'A content security policy is set.']
      : ['warn', 'No content security policy is set.'],
  ),
]
