import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openVictim } from '../../../ports/browser/browser.testkit.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
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
