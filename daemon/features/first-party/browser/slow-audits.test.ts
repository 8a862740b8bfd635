import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { chromium } from '../../../ports/browser/browser.testkit.ts'
import { pageQualityAudit } from './page-quality-audit.ts'
import { cleanPage, openBrowserTest } from './pages.testkit.ts'
import { performanceAnalysis } from './performance-analysis.ts'

// @deep pages of many seconds, each loaded on two devices
// @idle other work would change how far a page comes in the time that it is given

const { site, run } = await openBrowserTest()

const filler = 'ducks swim on ponds '.repeat(400)

const BIG_BYTES = 1_700_000

function plantSlowPage() {
  site.pages['/slow'] = {
    body: `<!doctype html><html><head><title>Slow</title><link rel="stylesheet" href="/style.css"><script src="/late.js"></script></head><body><h1>Ducks</h1><div id="d"></div><p>${filler}</p><img src="/big.png"><script>
      setTimeout(() => {
        const until = performance.now() + 700; while (performance.now() < until);
        document.getElementById('d').style.height = '500px'
      }, 200)</script></body></html>`,
  }
  site.pages['/style.css'] = {
    headers: { 'content-type': 'text/css' },
    body: `p { color: #222 } /* ${'x'.repeat(BIG_BYTES)} */`,
  }
  site.pages['/late.js'] = async (_, res) => {
    await sleep(400)
    res.writeHead(200, { 'content-type': 'text/javascript' }).end(`/* ${filler} */`)
  }
}

function plantFastPage() {
  const body = gzipSync(cleanPage)
  site.pages['/fast'] = { headers: { 'content-encoding': 'gzip', 'content-type': 'text/html' }, body }
}

describe.skipIf(chromium === undefined)('of slow pages, the analysis of speed', () => {
  it('names what was planted, and puts a slow page below a fast one', async () => {
    plantSlowPage()
    plantFastPage()
    const slow = await run(performanceAnalysis, { site_url: site.at('/slow') })
    const fast = await run(performanceAnalysis, { site_url: site.at('/fast') })
    const bad = (result: { findings: { id: string; status: string }[] }) =>
      result.findings.filter(({ status }) => status !== 'pass').map(({ id }) => id)
    expect(bad(slow)).toEqual(
      expect.arrayContaining([
        'render_blocking',
        'compression',
        'caching',
        'weight',
        'image_sizes',
        'long_tasks',
        'layout_shifts',
      ]),
    )
    expect(bad(fast).filter((id) => id !== 'server_time' && id !== 'long_tasks')).toEqual([])
    expect(slow.score).toBeLessThan(fast.score)
    const { desktop, mobile } = slow.metrics
    expect(desktop.fcp_ms).toBeGreaterThanOrEqual(400)
    expect(desktop.tbt_ms).toBeGreaterThan(0)
    expect(desktop.cls).toBeGreaterThan(0.1)
    // As many bytes as the site sent, within what headers add.
    expect(desktop.bytes / BIG_BYTES).toBeCloseTo(1, 1)
    expect(mobile.timed_out || mobile.load_ms > desktop.load_ms).toBe(true)
    expect(slow.resources[0]).toMatchObject({ url: site.at('/style.css'), type: 'stylesheet', cache_s: null })
    expect(slow.resources.find((one: { url: string }) => one.url.endsWith('/late.js'))).toMatchObject({
      render_blocking: true,
    })
  })

  it('says of a page that waits for answers without end that it does not come to rest', async () => {
    const asking = '<script>for (let i = 0; i < 5; i += 1) fetch("/never?" + i)</script>'
    site.pages['/busy'] = { body: cleanPage.replace('</body>', `${asking}</body>`) }
    site.pages['/never'] = () => undefined
    const { findings, metrics } = await run(pageQualityAudit, { url: site.at('/busy'), strategy: 'desktop' })
    expect(metrics.timed_out).toBe(true)
    expect(findings).toContainEqual(expect.objectContaining({ id: 'rest', status: 'warn' }))
  })
})
