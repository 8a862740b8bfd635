import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { buyFrom } from '../../../../fixtures/kit/buy-from.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { urlEvidenceSnapshot } from './url-evidence-snapshot.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

const buy = buyFrom(urlEvidenceSnapshot, () => site.web({ wall: () => Date.UTC(2030, 0, 2, 3, 4, 5, 6) }))
const snapshot = async (path: string, more: Record<string, string | boolean> = {}) =>
  (await buy({ url: site.at(path), ...more })).url_evidence_snapshot
const sha256 = (body: string | Buffer) => createHash('sha256').update(body).digest('hex')

test('it records what was there', async () => {
  const body = '<h1>Terms</h1><p>Version 3 is in force.</p>'
  site.pages['/terms'] = { headers: { 'x-version': '3', 'set-cookie': 'id=secret' }, body }
  const found = await snapshot('/terms', { question: 'which version?' })
  expect(found).toMatchObject({
    url: site.at('/terms'),
    final_url: site.at('/terms'),
    redirects: [],
    status: 200,
    body_bytes: Buffer.byteLength(body),
    body_sha256: sha256(body),
    truncated: false,
    text_found: null,
    question: 'which version?',
    fetched_at: '2030-01-02T03:04:05.006Z',
  })
  expect(found.headers).toMatchObject({ 'content-type': 'text/html', 'x-version': '3' })
  expect(JSON.stringify(found)).not.toContain('secret')
})

test('a page that is not there is evidence too', async () => {
  expect(await snapshot('/gone')).toMatchObject({ status: 404, body_sha256: sha256('not here') })
})

test('a redirect is followed and told', async () => {
  site.pages['/old'] = { status: 301, headers: { location: '/new#part' } }
  site.pages['/new'] = { body: 'moved here' }
  expect(await snapshot('/old')).toMatchObject({
    url: site.at('/old'),
    final_url: site.at('/new'),
    redirects: [{ status: 301, to: site.at('/new') }],
    body_sha256: sha256('moved here'),
  })
})

test('the hash is of the first megabyte, unpacked', async () => {
  const body = Buffer.alloc(1_500_000, 'a')
  site.pages['/large'] = { body }
  site.pages['/packed'] = { headers: { 'content-encoding': 'gzip' }, body: gzipSync('small') }
  expect(await snapshot('/large')).toMatchObject({
    body_bytes: 1_000_000,
    body_sha256: sha256(body.subarray(0, 1_000_000)),
    truncated: true,
  })
  expect(await snapshot('/packed')).toMatchObject({ body_bytes: 5, body_sha256: sha256('small'), truncated: false })
})

describe('the text expected', () => {
  beforeEach(() => {
    site.pages['/'] = {
      body: `<html><head><title>Head</title><script>var hidden = "in code"</script></head><body>
        <p>The <b>Price</b> is
        12&nbsp;&euro; <!-- a comment --></p><p>Café <i>ol</i>é</p></body></html>`,
    }
  })

  it.each<[string, boolean, string | null]>([
    ['the price is 12 €', true, 'visible_text'],
    ['THE PRICE', true, 'visible_text'],
    ['café olé', true, 'visible_text'],
    ['in code', true, 'source'],
    ['a comment', true, 'source'],
    ['€ Café', true, 'visible_text'],
    ['the price is 13', false, null],
  ])('%j: %s, in %s', async (expected_text, text_found, found_in) => {
    expect(await snapshot('/', { expected_text })).toMatchObject({ text_found, found_in })
  })

  it('counts upper and lower case when told to', async () => {
    expect(await snapshot('/', { expected_text: 'THE PRICE', case_sensitive: true })).toMatchObject({
      text_found: false,
    })
    const found = await snapshot('/', { expected_text: 'The Price', case_sensitive: true })
    expect([found.text_found, found.excerpt]).toEqual([true, 'The Price is 12 € Café olé'])
  })

  it('is found in other text, in its own character set, and not in pictures', async () => {
    site.pages['/data'] = { headers: { 'content-type': 'application/json' }, body: '{"état": "prêt"}' }
    site.pages['/latin'] = {
      headers: { 'content-type': 'text/plain; charset=iso-8859-1' },
      body: Buffer.from('prêt', 'latin1'),
    }
    site.pages['/picture'] = { headers: { 'content-type': 'image/png' }, body: 'prêt' }
    for (const [path, text_found] of Object.entries({ '/data': true, '/latin': true, '/picture': false })) {
      expect(await snapshot(path, { expected_text: 'Prêt' })).toMatchObject({ text_found })
    }
  })
})

describe('a page that may not be had', () => {
  it.each<[string, string]>([
    ['http://127.0.0.1/', 'The host is not on the public internet.'],
    ['http://[::1]/', 'The host is not on the public internet.'],
    ['http://169.254.169.254/latest/meta-data', 'The host is not on the public internet.'],
    ['http://user:word@example.com/', 'The URL must not contain a user name or password.'],
    ['ftp://example.com/', 'Only http and https URLs are allowed.'],
    ['http://example.com:25/', 'Only ports 80 and 443 are allowed.'],
  ])('%s is the buyer’s to mend', async (url, message) => {
    await expect(buy({ url })).rejects.toMatchObject({ code: 'input_invalid', details: [{ path: 'url', message }] })
  })

  it('because of robots.txt, or after a redirect inside, is the buyer’s to mend', async () => {
    site.pages['/robots.txt'] = { body: 'User-agent: *\nDisallow: /closed' }
    site.pages['/inside'] = { status: 302, headers: { location: 'http://10.0.0.1/' } }
    for (const path of ['/closed', '/inside']) {
      await expect(snapshot(path)).rejects.toMatchObject({ code: 'input_invalid' })
    }
  })

  it('because its server fails costs nothing either', async () => {
    site.pages['/broken'] = (req) => req.socket.destroy()
    await expect(snapshot('/broken')).rejects.toMatchObject({
      code: 'provider_failed',
      message: 'The page could not be read. The connection closed before the response was complete.',
    })
  })
})

describe('a question', () => {
  const body = `<main><p>The ferry leaves at 9:15 from pier four. Tickets cost 12 euros for adults.</p>
    <p>Children under six travel free. Dogs must be kept on a lead.</p><p>Returns are accepted within 30 days of delivery.</p></main><script>ticket price secret</script>`

  it.each([
    ['How much do tickets cost?', 'Tickets cost 12 euros for adults.'],
    ['When does the ferry leave, and from which pier?', 'The ferry leaves at 9:15 from pier four.'],
    ['Do children travel free?', 'Children under six travel free.'],
    ['How long can I return things?', 'Returns are accepted within 30 days of delivery.'],
    ['How quickly do you deliver?', 'Returns are accepted within 30 days of delivery.'],
    ['Are dogs allowed?', 'Dogs must be kept on a lead.'],
  ])('%s is answered with a sentence of the page', async (question, quote) => {
    site.pages['/ferry'] = { body }
    const { answers } = await snapshot('/ferry', { question })
    expect(answers[0].quote).toBe(quote)
  })

  it('is answered with what stands under the heading that asks it, not with headings and menus', async () => {
    site.pages['/faq'] = {
      body: `<div role="navigation"><p>How the ferry takes dogs, and more</p></div><h2>Does the ferry take dogs?</h2>
        <p>Only small ones, in a basket.</p><h2>Is there coffee?</h2><p>From nine on, on the upper deck.</p>`,
    }
    const { answers } = await snapshot('/faq', { question: 'Does the ferry take dogs?' })
    expect(answers).toEqual([{ quote: 'Only small ones, in a basket.', match: 0.9 }])
  })

  it.each([
    'Who owns the company?',
    'Who takes the dogs?',
    'When are dogs on a lead?',
    'How many dogs are on a lead?',
    'Does the ferry to the island take bicycles?',
  ])('that the page says nothing of has no answer: %s', async (question) => {
    site.pages['/ferry'] = { body }
    expect(await snapshot('/ferry', { question })).toMatchObject({ answers: [] })
  })
})
