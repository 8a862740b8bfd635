import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromium } from '../../../ports/browser/browser.testkit.ts'
import { type BrowserEngine, openBrowsers } from '../../../ports/browser/browser.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import { contrastOf, distanceOf } from './colors.ts'
import { styleGuide } from './style-guide.ts'

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
const sheet = `:root { --shine: linear-gradient(rgb(0, 85, 204), #fff); --shade: rgba(0, 85, 204, 0.2); --brand: #05c } body { margin: 0; background: #fafafa; color: #222222; font: 16px/24px Georgia, serif }
h1 { font: 700 40px/48px Verdana, sans-serif; margin: 16px } p { margin: 8px } .btn { background: #0055cc; color: #ffffff; padding: 8px 16px; border-radius: 6px; border: 0 }
.card { border: 1px solid #dddddd; border-radius: 12px; padding: 24px; box-shadow: 0 2px 4px rgba(0,0,0,0.2) } .dark { background: #111111; color: #eeeeee } .unused { color: #ff00ff; border-radius: 77px }
@media (max-width: 640px) { h1 { margin: 8px } }`
const page = (body: string) =>
  `<!doctype html><html lang="en"><head><title>x</title><style>${sheet}</style></head><body>${body}</body></html>`

describe.skipIf(chromium === undefined)('a style guide', () => {
  const run = () =>
    delivered({
      service: styleGuide,
      input: { site_url: site.at('/') },
      means: { web: site.web(), now: () => 0, engines: { browser: engine.port } },
    })

  it('names the planted colours by their roles, fonts, shapes and components, and nothing unused', async () => {
    site.pages['/'] = {
      body: page(
        `<h1>Ducks</h1><p>${'They swim on ponds. '.repeat(20)}</p><p><a class="btn" href="/two">Go</a></p><div class="card">Card</div><p class="dark">Night <b>and</b> day</p><a href="/gone">gone</a>`,
      ),
    }
    site.pages['/two'] = { body: page('<nav><a href="/">Home</a></nav><table><tr><td>1</td></tr></table>') }
    const guide = await run()
    expect(guide.pages).toEqual([site.at('/'), site.at('/two')])
    expect(guide.colors).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ hex: '#fafafa', role: 'background' }),
        expect.objectContaining({ hex: '#222222', role: 'text', contrast_on_background: expect.closeTo(15.2, 0) }),
        // On the dark paragraph, not on the page.
        expect.objectContaining({ hex: '#eeeeee', role: 'text', contrast_on_background: expect.closeTo(16.3, 0) }),
        expect.objectContaining({ hex: '#0055cc', role: 'accent', custom_property: '--brand' }),
        expect.objectContaining({ hex: '#dddddd', role: 'border' }),
      ]),
    )
    expect(guide.typography).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          family: 'Verdana',
          size_px: 40,
          weight: '700',
          line_height: '48px',
          used_for: ['h1'],
        }),
        expect.objectContaining({ family: 'Georgia', size_px: 16 }),
      ]),
    )
    expect(guide.spacing).toMatchObject({ unit_px: 8, steps: expect.arrayContaining([8, 16, 24]) })
    expect(guide.radii).toEqual(expect.arrayContaining(['6px', '12px']))
    expect(guide.breakpoints).toEqual(['640px'])
    const kinds = guide.components.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toEqual(expect.arrayContaining(['button', 'card', 'link', 'nav', 'table']))
    const button = guide.components.find(({ kind }: { kind: string }) => kind === 'button')
    expect(button).toMatchObject({ css: { 'border-radius': '6px' }, contrast: expect.closeTo(6.9, 0) })
    for (const word of ['#0055cc', 'Verdana', 'button', '640px']) expect(guide.markdown).toContain(word)
    expect(JSON.stringify(guide)).not.toMatch(/ff00ff|77px|255, 0, 255/)
    expect(Object.values(guide.tokens.color.accent)).toContainEqual({ $type: 'color', $value: '#0055cc' })
    expect(guide.engine).toMatchObject({ name: 'chromium', kind: 'deterministic' })
  })

  it('mixes translucent colours with what they stand on', async () => {
    const shade = 'border: 1px solid rgba(0, 0, 0, 0.125); background: rgba(0, 0, 0, 0.03); border-radius: 4px'
    site.pages['/'] = {
      body: `<body style="background: #fff"><div style="${shade}">Light</div><nav><b>Bold</b></nav><nav style="background: #000; color: rgba(255, 255, 255, 0.5)">Half</nav>`,
    }
    const { colors, components } = await run()
    const hexes = (of: string) => colors.flatMap(({ role, hex }: Record<string, string>) => (role === of ? hex : []))
    expect(hexes('background')).toEqual(expect.arrayContaining(['#ffffff', '#000000']))
    expect(hexes('border')).toEqual(['#d8d8d8'])
    expect(hexes('text')).toEqual(expect.arrayContaining(['#000000', '#808080']))
    const contrasts = components.map(({ kind, contrast }: Record<string, unknown>) => [kind, contrast])
    expect(Object.fromEntries(contrasts)).toEqual({ card: 19.6, nav: 5.32 })
  })

  it('charges nothing for a page that shows nothing', async () => {
    site.pages['/'] = { body: page('') }
    await expect(run()).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it('charges nothing for a site whose page is gone', async () => {
    site.pages['/'] = { status: 404, body: 'x' }
    await expect(run()).rejects.toMatchObject({ code: 'provider_failed', message: 'The page returned status 404.' })
  })
})

it('colours are as far apart as they look', () => {
  expect(contrastOf([0, 0, 0], [1, 1, 1])).toBe(21)
  expect(distanceOf([0, 0, 0], [1, 1, 1])).toBeCloseTo(1, 2)
  expect(distanceOf([0, 0.33, 0.8], [0, 0.335, 0.8])).toBeLessThan(0.03)
})
