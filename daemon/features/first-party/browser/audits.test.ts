import { describe, expect, it } from 'vitest'
import { chromium } from '../../../ports/browser/browser.testkit.ts'
import { accessibilityAudit } from './accessibility-audit.ts'
import { type AxeIssue, accessibilityScore } from './axe.ts'
import { pageQualityAudit } from './page-quality-audit.ts'
import { cleanPage, faults, faultyPage, openBrowserTest } from './pages.testkit.ts'
import { performanceAnalysis } from './performance-analysis.ts'
import { share } from './speed.ts'

// @slow a real browser

const { site, engine, run } = await openBrowserTest()

describe.each([
  ['accessibility_audit', accessibilityAudit, 'site_url'],
  ['performance_analysis', performanceAnalysis, 'site_url'],
  ['page_quality_audit', pageQualityAudit, 'url'],
] as const)('%s', (_, service, field) => {
  it.each(['http://127.0.0.1/', 'http://[::ffff:10.0.0.1]/', 'file:///etc/passwd', 'chrome://version', 'no address'])(
    'refuses %s before anything is paid',
    (url) => {
      const means = { web: site.web({ exempt: () => false }), engines: { browser: engine.port } }
      expect(() => service.check({ [field]: url }, means)).toThrow(new RegExp(`^${field}: `))
    },
  )

  it.skipIf(chromium === undefined)(
    'charges nothing for a page that is gone, and nothing where there is no browser',
    async () => {
      await expect(run(service, { [field]: site.at('/gone') })).rejects.toMatchObject({ code: 'provider_failed' })
      site.pages['/'] = { body: cleanPage }
      const without = service.run({ [field]: site.at('/') }, new AbortController().signal, { web: site.web() })
      await expect(without).rejects.toMatchObject({ code: 'unavailable' })
    },
  )
})

describe.skipIf(chromium === undefined)('the audit of accessibility', () => {
  it('finds every planted fault, each with where it is, and how bad its contrast is', async () => {
    // A policy that forbids scripts does not keep the rules out.
    site.pages['/'] = { headers: { 'content-security-policy': "script-src 'none'" }, body: faultyPage }
    const result = await run(accessibilityAudit, { site_url: site.at('/') })
    const found = result.issues.map((issue: { id: string }) => issue.id)
    expect(found).toEqual(expect.arrayContaining(faults.map(([id]) => id)))
    const contrast = result.issues.find((issue: { id: string }) => issue.id === 'color-contrast')
    expect(contrast).toMatchObject({
      severity: 'serious',
      wcag: ['1.4.3'],
      // By the formula of WCAG: (1.05) / (L(#aaa) + 0.05).
      contrast: { ratio: expect.closeTo(2.32, 1), expected: '4.5:1', fg: '#aaaaaa', bg: '#ffffff' },
    })
    expect(contrast.html).toContain('Pale text')
    expect(result.score).toBeLessThan(60)
  })

  it('finds nothing in a clean page, says what it did not look at, and cannot be talked round by the page', async () => {
    const liar =
      '<script>window.axe = { run: async () => ({}) }; Array.prototype.map = () => []; document.querySelectorAll = () => []</script>'
    site.pages['/'] = { body: cleanPage }
    site.pages['/liar'] = { body: faultyPage.replace('</head>', `${liar}</head>`) }
    const clean = await run(accessibilityAudit, { site_url: site.at('/') })
    expect(clean).toMatchObject({
      score: 100,
      issues: [],
      standard: 'WCAG 2.2 AA',
      checked_at: '2026-06-01T12:00:00.000Z',
    })
    expect(clean.passes).toBeGreaterThan(10)
    expect(clean.not_checked.length).toBeGreaterThan(2)
    expect(clean.engine).toMatchObject({ name: expect.stringMatching(/^axe-core 4\.\d+/), kind: 'deterministic' })
    expect((await run(accessibilityAudit, { site_url: site.at('/liar') })).issues.length).toBeGreaterThan(15)
  })
})

it('accessibility is scored by the rules that fail, and not by their hits, as Lighthouse does', () => {
  const passes = Array.from({ length: 23 }, () => 'serious' as const)
  const issue = (severity: 'serious' | 'moderate', count: number) => ({ ...({} as AxeIssue), severity, count })
  // Lighthouse says 91 and 93 of two public pages with two serious faults in 20 to 30 rules.
  expect(accessibilityScore({ passes, issues: [issue('serious', 40), issue('serious', 1)] })).toBe(92)
  expect(accessibilityScore({ passes, issues: [issue('moderate', 1)] })).toBe(98)
  expect(accessibilityScore({ passes, issues: [] })).toBe(100)
})

describe.skipIf(chromium === undefined)('frames', () => {
  it('of the site count and are named; those of other sites do not', async () => {
    const frames = `<iframe title="a" src="/inner"></iframe><iframe title="b" src="${site.at('/alien', 'elsewhere.example')}"></iframe>`
    site.pages['/'] = { body: cleanPage.replace('</main>', `${frames}</main>`) }
    site.pages['/inner'] = { body: cleanPage.replace('alt="A duck"', '') }
    site.pages['/alien'] = { body: '<img src="x"><button></button>' }
    const { issues, not_checked } = await run(accessibilityAudit, { site_url: site.at('/') })
    expect(site.asked).toContain('GET /alien')
    expect(issues.map(({ id, frame }: { id: string; frame?: string }) => [id, frame])).toEqual([
      ['image-alt', site.at('/inner')],
    ])
    expect(not_checked).toContain('frames from other sites')
  })
})

const filler = 'ducks swim on ponds '.repeat(400)

describe.skipIf(chromium === undefined)('the analysis of speed', () => {
  it('counts what shifts and what blocks after the load, as the page comes to rest later', async () => {
    // After the first paint: what moves before it moves before nobody's eyes.
    const late = `new PerformanceObserver((_, seen) => { seen.disconnect(); setTimeout(() => {
      document.getElementById('d').style.height = '400px'
      setTimeout(() => { const until = performance.now() + 400; while (performance.now() < until); }, 200)
    }, 600) }).observe({ type: 'paint', buffered: true })`
    const body = `<!doctype html><title>Late</title><div id="d"></div><h1>Late</h1><p>Text</p><script>${late}</script>`
    site.pages['/late'] = { body }
    const { metrics } = await run(performanceAnalysis, { site_url: site.at('/late') })
    for (const { cls, tbt_ms } of [metrics.desktop, metrics.mobile])
      expect([cls > 0, tbt_ms > 200]).toEqual([true, true])
  })

  it('scores on curves through their published points', () => {
    expect(share(1_800, 1_800, 3_000)).toBeCloseTo(0.9, 4)
    expect(share(3_000, 1_800, 3_000)).toBeCloseTo(0.5, 4)
    expect([share(0, 0.1, 0.25), share(1e9, 200, 600) < 0.001]).toEqual([1, true])
  })
})

describe.skipIf(chromium === undefined)('the audit of quality', () => {
  it('finds what was planted in each of its four categories, and little in a clean page', async () => {
    site.pages['/bad'] = {
      body: `<html><head><meta charset="windows-1252"></head><body><img src="/x.png" style="width:100px;height:10px"><p style="color:#bbb">pale</p><script src="/b.js"></script><script>undefinedFunction()</script></body></html>`,
    }
    site.pages['/b.js'] = { headers: { 'content-type': 'text/javascript' }, body: `/* ${filler} */` }
    site.pages['/clean'] = { body: cleanPage }
    const bad = await run(pageQualityAudit, { url: site.at('/bad'), strategy: 'desktop' })
    const clean = await run(pageQualityAudit, { url: site.at('/clean'), strategy: 'desktop' })
    const failing = bad.findings
      .filter(({ status }: { status: string }) => status !== 'pass')
      .map(({ category, id }: { category: string; id: string }) => `${category} ${id}`)
    expect(failing).toEqual(
      expect.arrayContaining([
        'performance compression',
        'accessibility image-alt',
        'accessibility html-has-lang',
        'best_practices console_errors',
        'best_practices doctype',
        'best_practices charset',
        'seo title',
        'seo description',
      ]),
    )
    for (const category of ['accessibility', 'best_practices', 'seo']) {
      expect([category, bad.scores[category] < clean.scores[category]]).toEqual([category, true])
    }
    expect(clean.scores.accessibility).toBe(100)
    // Which file is missing, the icon of the site aside; a rule about files that are not there is left out.
    const missing = bad.findings.find(({ id }: { id: string }) => id === 'console_errors')
    expect(missing).toMatchObject({ message: 'Errors in the console: 2.', evidence: expect.stringContaining('/x.png') })
    expect(clean.not_checked).toContain('caching')
    expect(bad).toMatchObject({ strategy: 'desktop', final_url: site.at('/bad') })
  })

  it('measures on a phone by default, and names what makes a page heavy', async () => {
    site.pages['/plain'] = { body: cleanPage.replace('</main>', `<p>${filler}</p></main>`) }
    const { strategy, findings } = await run(pageQualityAudit, { url: site.at('/plain') })
    expect(strategy).toBe('mobile')
    expect(findings).toContainEqual(expect.objectContaining({ id: 'compression', status: 'fail' }))
  })
})
