import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { buyFrom } from '../../../../fixtures/kit/buy-from.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { linkPreview } from './link-preview.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

const buy = buyFrom(linkPreview, () => site.web())
async function preview(head: string, path = '/posts/one', headers: Record<string, string> = {}) {
  site.pages[path] = { body: head, headers }
  return buy({ url: site.at(path) })
}

test('a page is shown as it describes itself', async () => {
  const shown = await preview(`<!doctype html><html><head>
    <title>Plain title</title>
    <meta name="description" content="Plain description">
    <meta property="og:title" content="Ducks &amp; geese">
    <meta property="og:description" content="All about
      water birds">
    <meta property="og:image" content="/duck.png">
    <meta property="og:site_name" content="Pond">
    <meta property="og:type" content="article">
    <link rel="canonical" href="../posts/1">
    <link rel="shortcut icon" href="icons/a.ico">
    <link rel="apple-touch-icon" href="//cdn.test/b.png">
    </head><body><h1>Heading</h1></body></html>`)
  expect(shown).toEqual({
    engine: { name: 'souk', version: '1', kind: 'deterministic' },
    url: site.at('/posts/one'),
    final_url: site.at('/posts/one'),
    status: 200,
    content_type: 'text/html',
    title: 'Ducks & geese',
    description: 'All about water birds',
    image: site.at('/duck.png'),
    site_name: 'Pond',
    type: 'article',
    canonical_url: site.at('/posts/1'),
    icons: [site.at('/posts/icons/a.ico'), 'http://cdn.test/b.png'],
  })
})

describe('what one source lacks', () => {
  it('the next one gives', async () => {
    const twitter = `<meta name="twitter:title" content="T"><meta name="twitter:image" content="https://x.test/t.png">
      <meta name="twitter:description" content="D">`
    expect(await preview(twitter)).toMatchObject({ title: 'T', description: 'D', image: 'https://x.test/t.png' })
    const plain = `<title> A
      title </title><meta name="Description" content="d"><link rel="image_src" href="i.png">`
    expect(await preview(plain)).toMatchObject({ title: 'A title', description: 'd', image: site.at('/posts/i.png') })
    expect(await preview('<svg><title>icon</title></svg><h1>Only a <b>heading</b></h1>')).toMatchObject({
      title: 'Only a heading',
    })
  })

  it('is null where nobody gives it, and fails where nobody gives anything', async () => {
    await expect(preview('<p>nothing')).rejects.toMatchObject({ code: 'provider_failed' })
    expect(await preview('<title>A title</title>')).toMatchObject({
      description: null,
      image: null,
      site_name: 'site.test',
      canonical_url: null,
      icons: [],
    })
  })
})

test('addresses are resolved against the page after redirects and its base, and only web addresses are shown', async () => {
  site.pages['/start'] = { status: 302, headers: { location: site.at('/deep/page', 'other.test') } }
  site.pages['/deep/page'] = {
    body: `<base href="/assets/"><meta property="og:image" content="p.jpg">
      <link rel="icon" href="javascript:alert(1)"><link rel="icon" href="data:image/png;base64,AA==">
      <link rel="ICON" href="i.png"><link rel="icon" href="i.png"><link rel="canonical" href="mailto:a@b.test">`,
  }
  expect(await buy({ url: site.at('/start') })).toMatchObject({
    url: site.at('/start'),
    final_url: site.at('/deep/page', 'other.test'),
    image: site.at('/assets/p.jpg', 'other.test'),
    icons: [site.at('/assets/i.png', 'other.test')],
    canonical_url: null,
  })
})

test('an error page is no preview, and costs nothing', async () => {
  site.pages['/gone'] = { status: 404, body: '<title>Not found</title>' }
  await expect(buy({ url: site.at('/gone') })).rejects.toMatchObject({
    code: 'provider_failed',
    message: 'The page returned status 404.',
  })
})

test.each([
  ['application/zip', 'PK\u0003\u0004', 'application/zip'],
  ['file of an unknown kind', '%PDF-1.7', ''],
])('a file says that it is a %s, and how large', async (kind, body, type) => {
  const shown = await preview(body, '/file', { 'content-type': type })
  expect(shown).toMatchObject({ file: { kind, bytes: body.length }, description: `${kind}, ${body.length} bytes` })
})

test('a picture and a file show themselves', async () => {
  expect(await preview('png', '/my%20duck.png', { 'content-type': 'image/png' })).toMatchObject({
    title: 'my duck.png',
    image: site.at('/my%20duck.png'),
  })
  expect(await preview('%PDF', '/%E0%A4%A.pdf', { 'content-type': 'application/pdf' })).toMatchObject({
    title: '%E0%A4%A.pdf',
    image: null,
  })
})

test('other character sets are read, declared in the header, in the page or by their mark', async () => {
  const title = (text: string, encoding: BufferEncoding) => Buffer.from(`<title>${text}</title>`, encoding)
  site.pages['/header'] = {
    headers: { 'content-type': 'text/html; charset=ISO-8859-15' },
    body: title('naïve', 'latin1'),
  }
  site.pages['/meta'] = {
    body: Buffer.concat([Buffer.from('<meta charset="windows-1252">'), title('naïve', 'latin1')]),
  }
  site.pages['/mark'] = { body: Buffer.concat([Buffer.from([0xff, 0xfe]), title('naïve', 'utf16le')]) }
  site.pages['/silent'] = { body: title('naïve', 'latin1') }
  site.pages['/unknown'] = { headers: { 'content-type': 'text/html; charset=klingon' }, body: title('naïve', 'utf8') }
  for (const path of ['/header', '/meta', '/mark', '/silent', '/unknown']) {
    expect(await buy({ url: site.at(path) })).toMatchObject({ title: 'naïve' })
  }
})

describe('a page that means harm', () => {
  it('cannot make the answer large', async () => {
    const long = 'x'.repeat(100_000)
    const shown = await preview(
      `<title>${long}</title><meta name="description" content="${long}">${'<link rel="icon" href="/i">'.repeat(1_000)}`,
    )
    expect([shown.title.length, shown.description.length, shown.icons.length]).toEqual([300, 1_000, 1])
  })

  it.each([
    ['nested', '<div>'.repeat(80_000)],
    ['left open', '<b><a>'.repeat(60_000)],
    ['nested in tables', '<table><tr><td>'.repeat(25_000)],
    ['wide', '<p>x'.repeat(100_000)],
    ['closed without end', '</p></div>'.repeat(45_000)],
    ['left open in turns', '<dd><li>'.repeat(50_000)],
  ])('cannot exhaust the stack or the time, %s', async (_, body) => {
    expect(await preview(`<title>there</title>${body}`)).toMatchObject({ title: 'there' })
  })

  it('is read in its beginning only', async () => {
    expect(
      await preview(`<title>front</title>${' '.repeat(600_000)}<meta property="og:title" content="back">`),
    ).toMatchObject({
      title: 'front',
    })
  })
})

test('a page whose server names no Content-Type is a page, and no file', async () => {
  const shown = await preview('\n<!DOCTYPE html><title>Untyped</title><p>Hello', '/untyped', { 'content-type': '' })
  expect(shown).toMatchObject({ content_type: 'text/html', title: 'Untyped' })
})
