import { createHash } from 'node:crypto'
import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import { sampled } from '../../../../fixtures/kit/depth.ts'
import { type Foreign, load as outside } from '../../../../fixtures/outside/load.ts'
import { chromium } from '../../../ports/browser/browser.testkit.ts'
import { pageScreenshot } from './page-screenshot.ts'
import { openBrowserTest } from './pages.testkit.ts'
import { pdfGeneration } from './pdf-generation.ts'

// @slow a browser draws pages

const { decode: decodeJpeg } = await outside('jpeg-js')
const { getDocumentProxy } = await outside('unpdf')
const { site, engine, run } = await openBrowserTest()

/** Green but for a red square at its beginning, and as high as it is told. */
const page = (height = 500) =>
  `<!doctype html><meta name="viewport" content="width=device-width"><style>body{margin:0;background:#0f0;height:${height}px}i{position:absolute;width:50px;height:50px;background:#f00}</style><i></i>`

function pixel({ data, width }: { data: Uint8Array; width: number }, x: number, y: number): number[] {
  const at = 4 * (y * width + x)
  return [...data.subarray(at, at + 3)]
}

describe.each([
  ['page_screenshot', pageScreenshot],
  ['pdf_generation', pdfGeneration],
] as const)('%s', (_, service) => {
  it.each([
    'http://127.0.0.1/',
    'file:///etc/passwd',
    'view-source:http://site.test/',
    'chrome://version',
    'http://a:b@site.test/',
  ])('refuses %s before anything is paid', (url) => {
    const means = { web: site.web({ exempt: () => false }), engines: { browser: engine.port } }
    expect(() => service.check({ url }, means)).toThrow(/^url: /)
  })

  it('cannot be bought where there is no browser', async () => {
    site.pages['/'] = { body: page() }
    const asked = service.run({ url: site.at('/') }, new AbortController().signal, { web: site.web() })
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' })
  })

  it.skipIf(chromium === undefined)('charges nothing for a page that is gone or is a file', async () => {
    site.pages['/file'] = { headers: { 'content-type': 'application/zip' }, body: 'x' }
    await expect(run(service, { url: site.at('/gone') })).rejects.toMatchObject({
      code: 'provider_failed',
      message: 'The page returned status 404.',
    })
    await expect(run(service, { url: site.at('/file') })).rejects.toMatchObject({
      code: 'provider_failed',
      message: 'The address is a file, not a page.',
    })
  })
})

describe.skipIf(chromium === undefined)('a screenshot', () => {
  it('is a PNG of the size that it says, with the colours of the page', async () => {
    site.pages['/'] = { body: page() }
    const result = await run(pageScreenshot, { url: site.at('/') })
    const bytes = Buffer.from(result.image_base64, 'base64')
    const picture = PNG.sync.read(bytes)
    expect([picture.width, picture.height, result.width, result.height]).toEqual([1_366, 768, 1_366, 768])
    expect([pixel(picture, 10, 10), pixel(picture, 1_000, 400)]).toEqual([
      [255, 0, 0],
      [0, 255, 0],
    ])
    expect(result).toMatchObject({
      final_url: site.at('/'),
      status: 200,
      content_type: 'image/png',
      device: 'desktop',
      truncated: false,
      timed_out: false,
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      taken_at: '2026-06-01T12:00:00.000Z',
      engine: { name: 'chromium', version: expect.stringMatching(/^\d+\./), kind: 'deterministic' },
    })
  })

  it('of a phone is three times as fine, and the page sees a phone', async () => {
    const script = 'document.body.style.background = innerWidth === 390 && "ontouchstart" in window ? "#00f" : "#000"'
    site.pages['/'] = { body: `${page()}<script>${script}</script>` }
    const result = await run(pageScreenshot, { url: site.at('/'), device: 'mobile', format: 'jpeg' })
    const picture = decodeJpeg(Buffer.from(result.image_base64, 'base64'))
    expect([picture.width, picture.height, result.width, result.height]).toEqual([1_170, 2_532, 1_170, 2_532])
    const [red = 0, green = 0, blue = 0] = pixel(picture, 1_000, 1_000)
    expect([red < 20, green < 20, blue > 235]).toEqual([true, true, true])
    expect(result.device_scale).toBe(3)
  })

  it('of the whole page goes as far down as is promised, and says that it ends there', async () => {
    site.pages['/'] = { body: page(4_000) }
    site.pages['/long'] = { body: page(30_000) }
    const whole = await run(pageScreenshot, { url: site.at('/'), full_page: true, format: 'jpeg' })
    const long = await run(pageScreenshot, { url: site.at('/long'), full_page: true, format: 'jpeg' })
    expect([whole.height, whole.truncated, long.height, long.truncated]).toEqual([4_000, false, 10_000, true])
  })

  it('that is too large is taken again less high, in the format that was asked for', async () => {
    const noise = `<canvas width="1366" height="2400"></canvas><script>
      const c = document.querySelector('canvas').getContext('2d'), d = c.createImageData(1366, 2400)
      let s = 1; for (let i = 0; i < d.data.length; i += 1) { s ^= s << 13; s ^= s >>> 17; s ^= s << 5; d.data[i] = i % 4 === 3 ? 255 : s & 255 }
      c.putImageData(d, 0, 0)</script>`
    site.pages['/'] = { body: `<!doctype html><style>body{margin:0}canvas{display:block}</style>${noise}` }
    const result = await run(pageScreenshot, { url: site.at('/'), full_page: true })
    expect(result).toMatchObject({ content_type: 'image/png', width: 1_366, height: 1_200, truncated: true })
  })
})

describe.skipIf(chromium === undefined)('a printed page', () => {
  const read = async (base64: string) => {
    const file = await getDocumentProxy(new Uint8Array(Buffer.from(base64, 'base64')))
    const first = await file.getPage(1)
    const { items } = await first.getTextContent()
    const [, , width = 0, height = 0] = first.view
    return {
      pages: file.numPages,
      size: [Math.round(width), Math.round(height)],
      text: items.map((item: Foreign) => ('str' in item ? item.str : '')).join(' '),
    }
  }

  it('has the words, the number of pages and the size that another reader finds in it', async () => {
    const html = `<title>/Type /Pages /Count 99</title><h1>Quarterly report</h1>${'<p style="break-after: page">A page</p>'.repeat(3)}<p>The end</p>`
    const result = await run(pdfGeneration, { html })
    const file = await read(result.pdf_base64)
    expect(file).toMatchObject({ pages: 4, size: [596, 842] })
    expect(file.text).toContain('Quarterly report')
    expect(result).toMatchObject({ source: 'html', format: 'A4', landscape: false, pages: 4, truncated: false })
  })

  // Points, 72 to an inch, as the standard sheets measure them.
  const sheets = [
    ['A3', false, [842, 1191]],
    ['A4', true, [842, 596]],
    ['A5', false, [420, 595]],
    ['A5', true, [595, 420]],
    ['Letter', false, [612, 792]],
  ] as const
  it.each(sampled(sheets, sheets.length))(
    'on %s, landscape: %s, has the box of that sheet, and its words on it',
    async (format, landscape, size) => {
      const result = await run(pdfGeneration, { html: '<h1>Ducks</h1>', format, landscape })
      const file = await read(result.pdf_base64)
      expect(file).toMatchObject({ pages: 1, text: 'Ducks' })
      for (const side of [0, 1]) expect(Math.abs((file.size[side] ?? 0) - (size[side] ?? 0))).toBeLessThanOrEqual(1)
      expect(result).toMatchObject({ format, landscape })
    },
  )

  it('of an address is printed with its scripts, and as wide as was asked for', async () => {
    site.pages['/'] = { body: '<p id="p">before</p><script>p.textContent = "after the script"</script>' }
    const result = await run(pdfGeneration, { url: site.at('/'), format: 'Letter', landscape: true })
    expect(await read(result.pdf_base64)).toMatchObject({
      size: [792, 612],
      text: expect.stringContaining('after the script'),
    })
    expect(result).toMatchObject({ source: 'url', url: site.at('/'), final_url: site.at('/') })
  })

  it('of a text runs no script, reads no file and reaches nothing private', async () => {
    const html = `<p id="p">before</p><img src="file:///etc/passwd"><iframe src="file:///etc/passwd"></iframe>
      <iframe src="http://127.0.0.1:${site.port + 1}/"></iframe><object data="file:///etc/passwd"></object>
      <script>p.textContent = 'a script ran'</script><img src="${site.at('/logo.png')}">`
    const file = await read((await run(pdfGeneration, { html })).pdf_base64)
    expect(file.text).toContain('before')
    expect(file.text).not.toMatch(/root:|a script ran/)
    expect(site.asked).toContain('GET /logo.png')
  })

  it('of an address has once what a page keeps on the screen', async () => {
    site.pages['/'] = {
      body: `<p style="position: fixed">Menu</p>${'<p style="break-after: page">A page</p>'.repeat(3)}<p>The end</p>`,
    }
    const result = await run(pdfGeneration, { url: site.at('/') })
    const file = await getDocumentProxy(new Uint8Array(Buffer.from(result.pdf_base64, 'base64')))
    const texts = [1, 4].map(async (at) => (await (await file.getPage(at)).getTextContent()).items)
    const [first, last] = (await Promise.all(texts)).map((items) => items.map(({ str }: Foreign) => str).join(' '))
    expect([result.pages, first, last]).toEqual([4, expect.stringContaining('Menu'), 'The end'])
  })

  it('ends after two hundred pages and says so', async () => {
    const html = '<p style="break-after: page">x</p>'.repeat(230)
    expect(await run(pdfGeneration, { html })).toMatchObject({ pages: 200, truncated: true })
  })

  it('of a text that is longer in bytes than in letters is refused before anything is paid', () => {
    const means = { web: site.web(), engines: { browser: engine.port } }
    expect(() => pdfGeneration.check({ html: '界'.repeat(50_000) }, means)).toThrow(
      /^html: must be at most 102400 bytes/,
    )
  })
})
