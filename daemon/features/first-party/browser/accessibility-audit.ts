import type { Json } from '../../../../src/core/json.ts'
import { compact } from '../../../../src/core/record.ts'
import { checkAddress } from '../docs/pages.ts'
import { AUTOMATED_MS, defineService, textOf } from '../service/service.ts'
import { accessibilityScore, runAxe, undecidable } from './axe.ts'
import { engineOf, onPage } from './opened.ts'

const MAX_ISSUES = 100

/** Checks a page in a browser against the automatic WCAG rules. */
export const accessibilityAudit = defineService({
  slug: 'accessibility_audit',
  needs: ['browser'],
  timeoutMs: AUTOMATED_MS,
  check: checkAddress('site_url'),
  read: (input, ctx) =>
    onPage(ctx, { input, field: 'site_url', screen: 'desktop' }, async (page, { final_url, timed_out }) => ({
      finalUrl: final_url,
      timedOut: timed_out,
      report: await runAxe(page),
      at: ctx.now(),
      engine: engineOf(ctx),
    })),
  make: (input, { report, engine, timedOut, finalUrl, at }): Json => ({
    site_url: textOf(input, 'site_url').trim(),
    final_url: finalUrl,
    score: accessibilityScore(report),
    standard: 'WCAG 2.2 AA',
    issues: report.issues
      .slice(0, MAX_ISSUES)
      .map(({ contrast, frame, ...issue }) => ({ ...issue, ...compact({ contrast, frame }) })),
    passes: report.passes.length,
    needs_review: report.needs_review,
    timed_out: timedOut,
    not_checked: [...undecidable, 'pages other than this one'],
    checked_at: new Date(at).toISOString(),
    engine: { ...engine, name: `axe-core ${report.version} in ${engine.name}` },
  }),
})
