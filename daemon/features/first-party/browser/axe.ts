import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { prepared } from '../../../ports/browser/cdp.ts'
import type { BrowserPage } from '../../../ports/browser/page.ts'

/** File name of axe-core, next to the bundle. */
const AXE = 'axe.min.js'
const MAX_HTML_CHARS = 200
const MAX_SELECTOR_CHARS = 300
const MAX_RULES = 150
const MAX_SELECTORS = 50
const impacts = ['critical', 'serious', 'moderate', 'minor'] as const

const Contrast = z.object({ ratio: z.number(), expected: z.string(), fg: z.string(), bg: z.string() })
const Issue = z.object({
  id: z.string(),
  severity: z.enum(impacts).catch('minor'),
  message: z.string(),
  help_url: z.string(),
  wcag: z.array(z.string()),
  selector: z.string(),
  selectors: z.array(z.string()).max(MAX_SELECTORS),
  html: z.string(),
  count: z.number(),
  contrast: Contrast.optional().catch(undefined),
  /** URL of the frame; absent for the page itself. */
  frame: z.string().optional(),
})
export type AxeIssue = z.output<typeof Issue>
const Report = z.object({
  version: z.string(),
  issues: z.array(Issue).max(MAX_RULES),
  /** The impact of each rule that passed. */
  passes: z.array(z.enum(impacts).catch('minor')).max(MAX_RULES),
  needs_review: z.array(Issue.pick({ id: true, message: true, selectors: true, count: true })).max(MAX_RULES),
})
export type AxeReport = z.output<typeof Report>

/** Script for an isolated world, where the page's policy and scripts do not affect it. It fetches nothing. */
const AXE_RUN = `const where = (nodes) => nodes.slice(0, ${MAX_SELECTORS}).map(({ target }) => String(target).slice(0, ${MAX_SELECTOR_CHARS}))
axe.run(document, {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  rules: { 'target-size': { enabled: true } },
  preload: false,
  iframes: false,
}).then(({ violations, passes, incomplete, testEngine }) => ({
  version: testEngine.version,
  passes: passes.map(({ nodes: [first] }) => first && [...first.any, ...first.all, ...first.none][0]?.impact),
  needs_review: incomplete.map(({ id, help, nodes }) => ({ id, message: help, count: nodes.length, selectors: where(nodes) })),
  issues: violations.map(({ id, impact, help, helpUrl, tags, nodes }) => {
    const [first] = nodes
    const data = (first.any.find((check) => check.data && check.data.contrastRatio) || {}).data
    return {
      id, severity: impact, message: help, help_url: helpUrl, count: nodes.length,
      wcag: tags.map((tag) => /^wcag(\\d)(\\d)(\\d+)$/.exec(tag)).filter(Boolean).map(([, a, b, c]) => [a, b, c].join('.')),
      selector: String(first.target).slice(0, ${MAX_SELECTOR_CHARS}),
      selectors: where(nodes), html: first.html.slice(0, ${MAX_HTML_CHARS}),
      ...(data ? { contrast: { ratio: data.contrastRatio, expected: String(data.expectedContrastRatio), fg: data.fgColor, bg: data.bgColor } } : {}),
    }
  }),
}))`

/** Violations on a page and in its same-site frames, by rule. */
export async function runAxe(page: BrowserPage): Promise<AxeReport> {
  script ??= axeSource().then((source) => prepared(`${source};${AXE_RUN}`))
  const [main, ...frames] = await page.evaluateInFrames(await script, Report)
  const inside = frames.map(({ url, answer }) => ({
    ...answer,
    issues: answer.issues.map((issue) => ({ ...issue, frame: url })),
  }))
  return reportOf([...(main ? [main.answer] : []), ...inside])
}

let script: Promise<Buffer> | undefined

/** Merges the reports of all frames into issues, worst first. @throws ZodError for an invalid report */
function reportOf(found: readonly unknown[]): AxeReport {
  const reports = found.map((one) => Report.parse(one))
  const [first] = reports
  if (!first) throw new Error('axe-core returned no report')
  const issues = new Map<string, AxeIssue>()
  for (const issue of reports.flatMap((report) => report.issues)) {
    const known = issues.get(issue.id)
    issues.set(issue.id, known ? { ...known, count: known.count + issue.count } : issue)
  }
  const bySeverity = (a: AxeIssue, b: AxeIssue) =>
    impacts.indexOf(a.severity) - impacts.indexOf(b.severity) || b.count - a.count
  return { ...first, issues: [...issues.values()].sort(bySeverity) }
}

function axeSource(): Promise<string> {
  const beside = fileURLToPath(new URL(`./${AXE}`, import.meta.url))
  const file = existsSync(beside) ? beside : createRequire(import.meta.url).resolve(`axe-core/${AXE}`)
  return readFile(file, 'utf8')
}

export const impactWeights = { critical: 10, serious: 7, moderate: 3, minor: 1 } as const
const WHOLE = 100

/** Percentage of applicable rules that pass, weighted by impact as in Lighthouse; the number of hits does not count. */
export function accessibilityScore({ issues, passes }: Pick<AxeReport, 'issues' | 'passes'>): number {
  const sum = (impacts: AxeReport['passes']) => impacts.reduce((whole, impact) => whole + impactWeights[impact], 0)
  const [failed, passed] = [sum(issues.map(({ severity }) => severity)), sum(passes)]
  return failed === 0 ? WHOLE : Math.floor((WHOLE * passed) / (failed + passed))
}

/** What no program can decide, and what this check does not cover. */
export const undecidable = [
  'frames from other sites',
  'whether alternative texts, labels and headings are accurate',
  'use by keyboard and screen reader',
  'what appears after clicking, typing or scrolling',
] as const
