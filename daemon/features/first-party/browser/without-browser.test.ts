import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { OUTSIDE } from '../../../../fixtures/outside/load.ts'
import { openVictim } from '../../../ports/browser/browser.testkit.ts'
import { openDom } from '../../../ports/dom/dom.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import { accessibilityAudit } from './accessibility-audit.ts'
import { cleanPage, faults, faultyPage } from './pages.testkit.ts'
import { styleGuide } from './style-guide.ts'

let site: Site
let victim: Awaited<ReturnType<typeof openVictim>>
beforeAll(async () => {
  site = await openSite()
  victim = await openVictim()
})
beforeEach(() => site.clear())
afterAll(async () => {
  await site.close()
  await victim.close()
})

const dom = openDom({ isAllowed: true, folder: join(OUTSIDE, 'jsdom') })

describe('the audit of accessibility without a browser', () => {
  const audit = (body: string) => {
    site.pages['/'] = { body }
    const means = { web: site.web(), now: () => 0, engines: { dom: dom.port } }
    return delivered({ service: accessibilityAudit, input: { site_url: site.at('/') }, means })
  }
  /** These look at where things are, and in which colours. */
  const laidOut = new Set(['color-contrast', 'target-size', 'landmark-one-main'])

  it('finds every planted fault that needs no layout, and says which rules were left out', async () => {
    const result = await audit(faultyPage)
    const found = result.issues.map((issue: { id: string }) => issue.id)
    expect(found).toEqual(expect.arrayContaining(faults.map(([id]) => id).filter((id) => !laidOut.has(id))))
    expect(found.filter((id: string) => laidOut.has(id))).toEqual([])
    for (const rule of laidOut) expect(result.not_checked.join('\n')).toContain(`rule ${rule}`)
    expect(result.engine).toMatchObject({
      name: expect.stringMatching(/^axe-core 4\.\d+\.\d+ in jsdom$/),
      kind: 'deterministic',
      fallback_from: 'browser',
    })
  })

  it('finds nothing in a clean page', async () => {
    expect(await audit(cleanPage)).toMatchObject({ score: 100, issues: [] })
  })

  it('runs no script of a page and asks for nothing that it names', async () => {
    const place = `http://127.0.0.1:${victim.port}/`
    const hostile = `<link rel="stylesheet" href="${place}"><style>@import url(${place})</style><img src="${place}"><iframe src="${place}"></iframe>
      <script src="${place}"></script><object data="${place}"></object><meta http-equiv="refresh" content="0;url=${place}">
      <script>document.title = 'ran'; window.axe = { run: async () => ({}) }; process.exit(1)</script>`
    const result = await audit(faultyPage.replace('<body>', `<body>${hostile}`))
    expect(result.issues.length).toBeGreaterThan(10)
    expect(result.issues.map((issue: { id: string }) => issue.id)).toContain('document-title')
    expect(site.asked.filter((line) => line !== 'GET /robots.txt')).toEqual(['GET /'])
    expect(victim.count).toEqual({ connections: 0, packets: 0 })
  })

  it.each([
    ['too many elements', '<i>x</i>'.repeat(6_000), /more than 5000 elements/],
    ['too many bytes', `<p>${'x'.repeat(600_000)}</p>`, /could not be read/],
  ])('charges nothing for a page of %s', async (_, body, message) => {
    await expect(audit(body)).rejects.toMatchObject({
      code: 'provider_failed',
      message: expect.stringMatching(message),
    })
  })

  it('is not there unless whoever runs the marketplace wants it, and finds jsdom where it was put', async () => {
    const lacks = (names: readonly string[]) => names
    expect(accessibilityAudit.lacking(lacks)).toEqual(['browser'])
    expect(accessibilityAudit.lacking((names) => names.filter((name) => name === 'browser'))).toEqual([])
    expect(openDom({ isAllowed: false }).initial).toMatchObject({ status: 'unconfigured' })
    expect(openDom({ isAllowed: true, folder: '/nowhere' }).initial).toMatchObject({ status: 'missing' })
    expect(dom.initial).toMatchObject({ status: 'ok', detail: expect.stringMatching(/^jsdom \d+/) })
    const folder = mkdtempSync(join(tmpdir(), 'souk-dom-'))
    writeFileSync(join(folder, 'package.json'), '{"name": "another", "main": "x.js", "version": "1"}')
    expect(openDom({ isAllowed: true, folder }).initial).toMatchObject({ status: 'missing' })
    rmSync(folder, { recursive: true })
    const without = accessibilityAudit.run({ site_url: site.at('/') }, new AbortController().signal, {
      web: site.web(),
    })
    await expect(without).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('a style guide without a browser', () => {
  const css = (body: string) => ({ headers: { 'content-type': 'text/css' }, body })
  const guide = (head: string, body = '<h1 class="a">Ducks</h1><p>They swim on ponds.</p>') => {
    site.pages['/'] = { body: `<!doctype html><html><head>${head}</head><body>${body}</body></html>` }
    const means = { web: site.web(), now: () => 0 }
    return delivered({ service: styleGuide, input: { site_url: site.at('/') }, means })
  }
  const hexes = (made: { colors: { hex: string }[] }) => made.colors.map(({ hex }) => hex)

  it('reads the sheets that a page names, each once, and what wins among rules', async () => {
    site.pages['/a.css'] = css(`h1 { color: red } .a { color: #0a0b0c } h1.a:hover { color: #ff00ff }
      @media print { h1 { color: #111213 !important } } @media (min-width: 3000px) { h1 { color: #212223 } }
      @media (max-width: 600px) { h1 { color: #313233 } } @media (min-width: 800px) { p { color: hsl(0, 100%, 25%) } }`)
    const made = await guide(
      '<link rel=stylesheet href="/a.css"><link rel="stylesheet" href="/a.css"><link rel="icon" href="/i.ico">',
    )
    expect(hexes(made)).toEqual(expect.arrayContaining(['#0a0b0c', '#800000']))
    expect(made.markdown).not.toMatch(/#ff00ff|#111213|#212223|#313233|#ff0000/)
    expect(made.breakpoints).toEqual(expect.arrayContaining(['3000px', '600px', '800px']))
    expect(site.asked.filter((line) => line === 'GET /a.css')).toHaveLength(1)
    expect(site.asked).not.toContain('GET /i.ico')
  })

  it('asks for no sheet inside and for none that robots.txt closes, and says that they are missing', async () => {
    site.pages['/robots.txt'] = { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /closed' }
    site.pages['/closed.css'] = css('h1 { color: #0a0b0c }')
    const made = await guide(
      `<link rel="stylesheet" href="http://127.0.0.1:${victim.port}/"><link rel="stylesheet" href="/closed.css">`,
    )
    expect(hexes(made)).not.toContain('#0a0b0c')
    expect(made.not_checked).toContain('2 style sheets that could not be read')
    expect(site.asked).not.toContain('GET /closed.css')
    expect(victim.count).toEqual({ connections: 0, packets: 0 })
  })

  it.each([
    ['is broken', 'h1 { color: #0a0b0c } } p { color: ; } @media { h2 { "'],
    ['refers to itself', ':root { --a: var(--b); --b: var(--a) } h1 { color: #0a0b0c } p { color: var(--a) }'],
    [
      'is followed by one that is nested without end',
      `h1 { color: #0a0b0c }</style><style>${'@supports (a:b) {'.repeat(9_000)}`,
    ],
    ['asks dearly', `h1 { color: #0a0b0c } ${'*:not(.x) > *:nth-child(2n+1) * * { margin: 1px }'.repeat(2_000)}`],
  ])('ends with a sheet that %s', async (_, text) => {
    expect(hexes(await guide(`<style>${text}</style>`, '<h1>x</h1><p>y</p>'.repeat(200)))).toContain('#0a0b0c')
  })
})
