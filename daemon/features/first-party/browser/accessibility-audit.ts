import { pathToFileURL } from 'node:url'
import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { compact } from '../../../../src/core/record.ts'
import type { Dom } from '../../../ports/dom/dom.ts'
import { EngineGone } from '../../../ports/engine.ts'
import { checkAddress, readFirst } from '../docs/pages.ts'
import type { ResultEngine } from '../service/engines.ts'
import { AUTOMATED_MS, defineService, type JsonInput, textOf } from '../service/service.ts'
import { decode } from '../web/page.ts'
import { AXE_RUN, type AxeReport, accessibilityScore, axeSource, reportOf, runAxe, undecidable } from './axe.ts'
import { type BrowserCtx, engineOf, onPage } from './opened.ts'

type Jsdom = {
  readonly JSDOM: new (
    html: string,
    options: object,
  ) => {
    readonly window: {
      readonly eval: (script: string) => unknown
      readonly close: () => void
      readonly document: { readonly getElementsByTagName: (name: string) => { readonly length: number } }
    }
  }
  readonly VirtualConsole: new () => object
}

const MAX_DOM_BYTES = 512 * 1024
const MAX_ELEMENTS = 5_000
const TAG = /<[a-z]/gi

/** axe rules that need layout or colours, and so a browser. */
const layoutRules = [
  'color-contrast',
  'color-contrast-enhanced',
  'target-size',
  'link-in-text-block',
  'scrollable-region-focusable',
  'css-orientation-lock',
  'landmark-one-main',
] as const

/** Blocks network access of the page and of the rules. */
const NO_WAY_OUT = `for (const name of ['XMLHttpRequest', 'fetch', 'WebSocket', 'EventSource', 'Worker']) delete globalThis[name]`

/** Parts of an audit that need a browser. */
const withoutLayout = [
  ...layoutRules.map((rule) => `rule ${rule} (needs a rendered page)`),
  'effects of styles and scripts',
  'frames',
] as const

type AuditedPage = { readonly html: string; readonly url: string; readonly entry: string }

/**
 * Runs the rules over a parsed page. Scripts do not run and nothing is fetched.
 * @throws AppError provider_failed for a page with too many elements
 */
async function runAxeInDom({ html, url, entry }: AuditedPage): Promise<AxeReport> {
  // Count tags before parsing, since each element takes kilobytes of memory.
  if ((html.match(TAG)?.length ?? 0) > MAX_ELEMENTS) throw tooMuch()
  const { JSDOM, VirtualConsole }: Jsdom = (await import(pathToFileURL(entry).href)).default
  const { window } = new JSDOM(html, { url, runScripts: 'outside-only', virtualConsole: new VirtualConsole() })
  try {
    if (window.document.getElementsByTagName('*').length > MAX_ELEMENTS) throw tooMuch()
    window.eval(NO_WAY_OUT)
    window.eval(await axeSource())
    const off = JSON.stringify(Object.fromEntries(layoutRules.map((rule) => [rule, { enabled: false }])))
    // The report leaves jsdom as JSON text, because jsdom's objects have other prototypes than ours.
    return reportOf([JSON.parse(String(await window.eval(`${AXE_RUN(off)}.then(JSON.stringify)`)))])
  } finally {
    window.close()
  }
}

function tooMuch(): AppError {
  return new AppError('provider_failed', `The page has more than ${MAX_ELEMENTS} elements: too many without a browser.`)
}

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
