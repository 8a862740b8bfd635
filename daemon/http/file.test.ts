import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filePart } from '../../fixtures/kit/forms.ts'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'
import { product } from '../../fixtures/market/products.ts'

const content = Buffer.from('0123456789')
const hash = createHash('sha256').update(content)
const sha256 = hash.copy().digest('hex')
const etag = `"${sha256}"`

let market: Marketplace
let provider: Person
let path = ''
beforeAll(async () => {
  market = await openMarketplace()
  provider = await registered(market, { type: 'provider' })
  const made = await product(market, provider, {
    file: filePart(content, { filename: 'Prêt \\"à\\" porter; 50%.html', type: 'text/html' }),
  })
  path = `/v1/products/${made.body.id}/download`
})
afterAll(() => market.close())

const get = (headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${market.url()}${path}`, { method, headers: { 'X-API-Key': provider.key, ...headers } })

type Row = [range: string, expected: [status: number, contentRange: string | null, body: string]]

describe('ranges of a file of ten bytes', () => {
  test.each<Row>([
    ['bytes=0-3', [206, 'bytes 0-3/10', '0123']],
    ['bytes=3-3', [206, 'bytes 3-3/10', '3']],
    ['bytes=7-', [206, 'bytes 7-9/10', '789']],
    ['bytes=-4', [206, 'bytes 6-9/10', '6789']],
    ['bytes=-400', [206, 'bytes 0-9/10', '0123456789']],
    ['bytes=8-400', [206, 'bytes 8-9/10', '89']],
    ['bytes=0-', [206, 'bytes 0-9/10', '0123456789']],
    ['bytes = 0 - 1', [206, 'bytes 0-1/10', '01']],
    ['bytes=10-', [416, 'bytes */10', '']],
    ['bytes=10-20', [416, 'bytes */10', '']],
    ['bytes=-0', [416, 'bytes */10', '']],
    ['bytes=9999999999999999-', [416, 'bytes */10', '']],
    ['bytes=0-1,4-5', [200, null, '0123456789']],
    ['bytes=5-2', [200, null, '0123456789']],
    ['bytes=a-b', [200, null, '0123456789']],
    ['bytes=-', [200, null, '0123456789']],
    ['bytes=--1', [200, null, '0123456789']],
    ['items=0-1', [200, null, '0123456789']],
    ['', [200, null, '0123456789']],
  ])('%s', async (range, expected) => {
    const answer = await get(range ? { Range: range } : {})
    const text = await answer.text()
    expect([answer.status, answer.headers.get('content-range'), text]).toEqual(expected)
    expect(answer.headers.get('content-length')).toBe(String(text.length))
  })
})

describe('conditions', () => {
  test.each<[string, Record<string, string>, number]>([
    ['the same file', { 'If-None-Match': etag }, 304],
    ['one of several', { 'If-None-Match': `"a", W/${etag}` }, 304],
    ['any', { 'If-None-Match': '*' }, 304],
    ['another file', { 'If-None-Match': '"a"' }, 200],
    ['a range of the same file', { 'If-Range': etag, Range: 'bytes=0-1' }, 206],
    ['a range of another file', { 'If-Range': '"a"', Range: 'bytes=0-1' }, 200],
    ['a range of a file of some date', { 'If-Range': 'Wed, 21 Oct 2026 07:28:00 GMT', Range: 'bytes=0-1' }, 200],
    ['a range beyond another file', { 'If-Range': '"a"', Range: 'bytes=90-' }, 200],
  ])('%s', async (_, headers, status) => {
    const answer = await get(headers)
    expect([answer.status, answer.headers.get('etag')]).toEqual([status, etag])
    if (status === 304) expect(await answer.text()).toBe('')
  })
})

test('a download is an attachment that is never shown in place, with the hash of the whole', async () => {
  for (const answer of [await get(), await get({ Range: 'bytes=0-1' }), await get({}, 'HEAD')]) {
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      'content-disposition':
        'attachment; filename="Pr_t ___ porter_ 50_.html"; filename*=UTF-8\'\'Pr%C3%AAt%20%22%C3%A0%22%20porter%3B%2050%25.html',
      'content-security-policy': "default-src 'none'; sandbox",
      'content-type': 'application/octet-stream',
      'repr-digest': `sha-256=:${hash.copy().digest('base64')}:`,
      'x-content-type-options': 'nosniff',
    })
  }
})

test('HEAD says how long it is and sends nothing', async () => {
  const answer = await get({}, 'HEAD')
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '10', ''])
})

test('a reader that leaves in the middle ends the reading, and others go on', async () => {
  const made = await product(market, provider, { file: filePart(Buffer.alloc(8 * 1024 * 1024, 'x')) })
  const url = `${market.url()}/v1/products/${made.body.id}/download`
  const headers = { 'X-API-Key': provider.key }
  for (let time = 0; time < 3; time += 1) {
    const leaving = new AbortController()
    const answer = await fetch(url, { headers, signal: leaving.signal })
    await answer.body?.getReader().read()
    leaving.abort()
  }
  expect((await (await fetch(url, { headers })).arrayBuffer()).byteLength).toBe(8 * 1024 * 1024)
})

test('a file that is gone from the disk is a fault of ours, not an empty download', async () => {
  const made = await product(market, provider, { file: filePart('soon gone') })
  await rm(`${market.dir}/store/blobs/${made.body.file.sha256}`)
  const answer = await market.call('GET', `/v1/products/${made.body.id}/download`, {
    headers: { 'X-API-Key': provider.key },
  })
  expect([answer.status, answer.body.code]).toEqual([500, 'internal'])
})
