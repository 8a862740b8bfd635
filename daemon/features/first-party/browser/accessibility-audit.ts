import type { Json } from '../../../../src/core/json.ts'
import { compact } from '../../../../src/core/record.ts'
import type { Dom } from '../../../ports/dom/dom.ts'
import { EngineGone } from '../../../ports/engine.ts'
import { checkAddress, readFirst } from '../docs/pages.ts'
import type { ResultEngine } from '../service/engines.ts'
import { AUTOMATED_MS, defineService, type JsonInput, textOf } from '../service/service.ts'
import { decode } from '../web/page.ts'
import { type AxeReport, accessibilityScore, runAxe, undecidable } from './axe.ts'
import { MAX_DOM_BYTES, runAxeInDom, withoutLayout } from './axe-dom.ts'
import { type BrowserCtx, engineOf, onPage } from './opened.ts'

type Seen = {
  readonly kind: 'seen'
  readonly finalUrl: string
  readonly timedOut: boolean
  readonly report: AxeReport
  readonly at: number
  readonly engine: ResultEngine
}
/** The page as the server sent it, for audits without a browser. */
type Sent = {
  readonly kind: 'sent'
  readonly finalUrl: string
  readonly html: string
  readonly dom: Dom
  readonly at: number
}
type Source = Seen | Sent

const MAX_ISSUES = 100

/** Checks a page against the automatic WCAG rules, in a browser or, without one, in jsdom. */
export const accessibilityAudit = defineService({
  slug: 'accessibility_audit',
  wants: ['browser', 'dom'],
  oneOf: ['browser', 'dom'],
  timeoutMs: AUTOMATED_MS,
  check: checkAddress('site_url'),
  async read(input, ctx): Promise<Source> {
    const { browser, dom } = ctx.engines
    if (browser) return seenPage(input, { ...ctx, engines: { browser } })
    if (!dom) throw new EngineGone('browser')
    const page = await readFirst(ctx, input, { field: 'site_url', maxBytes: MAX_DOM_BYTES, truncate: false })
    return { kind: 'sent', finalUrl: page.url, html: decode(page), dom: { ...dom }, at: ctx.now() }
  },
  async make(input, source: Source): Promise<Json> {
    const { report, engine, timedOut, notChecked } = source.kind === 'seen' ? ofSeen(source) : await ofSent(source)
    return {
      site_url: textOf(input, 'site_url').trim(),
      final_url: source.finalUrl,
      score: accessibilityScore(report.issues),
      standard: 'WCAG 2.2 AA',
      issues: report.issues
        .slice(0, MAX_ISSUES)
        .map(({ contrast, frame, ...issue }) => ({ ...issue, ...compact({ contrast, frame }) })),
      passes: report.passes,
      needs_review: report.needs_review,
      timed_out: timedOut,
      not_checked: [...notChecked, ...undecidable, 'pages other than this one'],
      checked_at: new Date(source.at).toISOString(),
      engine: { ...engine, name: `axe-core ${report.version} in ${engine.name}` },
    }
  },
})

function seenPage(input: JsonInput, ctx: BrowserCtx): Promise<Seen> {
  return onPage(ctx, { input, field: 'site_url', screen: 'desktop' }, async (page, { final_url, timed_out }) => ({
    kind: 'seen',
    finalUrl: final_url,
    timedOut: timed_out,
    report: await runAxe(page),
    at: ctx.now(),
    engine: engineOf(ctx),
  }))
}

function ofSeen({ report, engine, timedOut }: Seen) {
  return { report, engine, timedOut, notChecked: [] }
}

async function ofSent({ html, finalUrl, dom }: Sent) {
  const engine: ResultEngine = { name: 'jsdom', version: dom.version, kind: 'deterministic', fallback_from: 'browser' }
  const report = await runAxeInDom({ html, url: finalUrl, entry: dom.entry })
  return { report, engine, timedOut: false, notChecked: withoutLayout }
}
