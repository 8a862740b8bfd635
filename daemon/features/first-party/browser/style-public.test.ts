import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { told } from '../../../../fixtures/evaluation/figure.ts'
import { OUTSIDE } from '../../../../fixtures/outside/load.ts'
import { chromium } from '../../../ports/browser/browser.testkit.ts'
import { type BrowserEngine, openBrowsers } from '../../../ports/browser/browser.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import { styleGuide } from './style-guide.ts'

// @deep looks at two public designs by a browser

/* What a designer reads in the sheets of two public sites, listed by hand before any answer was seen. */

const designs = [
  {
    file: 'mcporter/dist/docs-site/quickstart.html',
    colors: ['#f7f9fc', '#1f2530', '#7c3aed', '#0d1116', '#ffffff', '#e3e7ef', '#5f6b7a'],
    families: ['Inter', 'JetBrains Mono'],
    other: ['--accent', '1180px', '8px'],
  },
  {
    file: 'bignumber.js/doc/API.html',
    colors: ['#ffffff', '#000000', '#ff2a00', '#4dc71f', '#a7dbd8', '#f5f5f5'],
    families: ['Helvetica Neue', 'Verdana', 'Consolas'],
    other: ['#abef98'],
  },
] as const

let site: Site
let engine: BrowserEngine
beforeAll(async () => {
  site = await openSite()
  engine = openBrowsers({ web: site.web() })
  await engine.probe?.()
})
afterAll(async () => {
  await engine.close?.()
  await site.close()
})

describe.skipIf(chromium === undefined)('public designs', () => {
  it('have the colours and fonts that a designer reads', async () => {
    const missing: string[] = []
    let listed = 0
    for (const { file, colors, families, other } of designs) {
      site.pages['/'] = { body: readFileSync(join(OUTSIDE, file), 'utf8') }
      const guide = await delivered({
        service: styleGuide,
        input: { site_url: site.at('/') },
        means: { web: site.web(), now: () => 0, engines: { browser: engine.port } },
      })
      const hexes = guide.colors.map(({ hex }: { hex: string }) => hex)
      const fonts = guide.typography.map(({ family }: { family: string }) => family)
      const whole = JSON.stringify(guide)
      listed += colors.length + families.length + other.length
      missing.push(
        ...colors.filter((one) => !hexes.includes(one)),
        ...families.filter((one) => !fonts.includes(one)),
        ...other.filter((one) => !whole.includes(one)),
      )
    }
    const share = 1 - missing.length / listed
    told('style_guide, two public designs', { listed, share })
    expect(share, missing.join(', ')).toBeGreaterThanOrEqual(0.8)
  })
})
