import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace, signPayment } from '../../fixtures/market/marketplace.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

/** Sends bytes as they are and reads what comes back until the other side ends, or the text is there. */
function raw(bytes: string | Buffer, options: { more?: () => Buffer | undefined; at?: Marketplace } = {}) {
  const { hostname, port } = new URL((options.at ?? market).url())
  return new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    const feed = () => {
      const next = options.more?.()
      if (next === undefined && options.more) socket.end()
      if (next === undefined || socket.destroyed) return
      if (socket.write(next)) setImmediate(feed)
      else socket.once('drain', feed)
    }
    socket.on('connect', () => {
      socket.write(bytes)
      feed()
    })
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
    socket.on('error', (error) => (text === '' ? reject(error) : undefined))
  })
}

/** Status and error code of a raw answer, which must be in the common form and nothing else: `error` says it to people. */
function read(text: string): [number, string] {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const document = JSON.parse(body)
  expect(head).toMatch(/x-request-id: req_[0-9a-f]{16}/i)
  expect(text).not.toMatch(/<html|<!doctype|node_modules|at .*\.ts:/i)
  expect(document.error).toMatch(/^.+ .+[.]$/)
  expect([document.message, typeof document.code]).toEqual([document.error, 'string'])
  return [Number(head.split(' ')[1]), document.code]
}

/** Status and code, of a 402 too, which is x402's own object. */
function readCode(text: string): [number, string] {
  const body = text.slice(text.indexOf('\r\n\r\n') + 4)
  return [Number(text.split(' ')[1]), JSON.parse(body).code]
}

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`
const hostOf = (place: Marketplace) => `Host: ${new URL(place.url()).host}`
const host = () => hostOf(market)

describe('what never becomes a request gets the error form', () => {
  test.each<[string, () => string, [number, string]]>([
    ['no HTTP at all', () => 'hello there\r\n\r\n', [400, 'invalid_request']],
    ['a malformed header', () => lines('GET /health HTTP/1.1', host(), 'bro ken: x'), [400, 'invalid_request']],
    ['no Host', () => lines('GET /health HTTP/1.1', 'Connection: close'), [421, 'misdirected']],
    [
      'another Host',
      () => lines('GET /health HTTP/1.1', 'Host: evil.example', 'Connection: close'),
      [421, 'misdirected'],
    ],
    [
      '10,000 headers',
      () => lines('GET /health HTTP/1.1', host(), ...Array.from({ length: 10_000 }, (_, i) => `h${i}: v`)),
      [431, 'headers_too_large'],
    ],
    [
      'both lengths',
      () => lines('POST /v1/register HTTP/1.1', host(), 'Content-Length: 2', 'Transfer-Encoding: chunked'),
      [400, 'invalid_request'],
    ],
    [
      'a broken % sequence',
      () => lines('GET /v1/services/%E0%A4%A HTTP/1.1', host(), 'Connection: close'),
      [400, 'invalid_request'],
    ],
    ['a lone %', () => lines('GET /v1/jobs/% HTTP/1.1', host(), 'Connection: close'), [400, 'invalid_request']],
    ['an unknown row', () => lines('GET /v1/nothing HTTP/1.1', host(), 'Connection: close'), [404, 'not_found']],
    [
      'a wrong method',
      () => lines('DELETE /health HTTP/1.1', host(), 'Connection: close'),
      [405, 'method_not_allowed'],
    ],
  ])('%s', async (_, request, expected) => {
    expect(read(await raw(request()))).toEqual(expected)
  })
})

describe('bodies', () => {
  const admin = async (body: string, headers: Record<string, string> = {}) => {
    const { readFile } = await import('node:fs/promises')
    const key = (await readFile(`${market.dir}/admin.key`, 'utf8')).trim()
    const response = await fetch(`${market.url()}/dashboard/api/admin/faucet`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}`, ...headers },
      body,
    })
    const answer = (await response.json()) as { code: string; details?: { path: string }[] }
    return [response.status, answer.code, answer.details?.map((detail) => detail.path)]
  }

  test.each<[string, string, Record<string, string>, unknown[]]>([
    ['malformed JSON', '{"wallet":', {}, [400, 'invalid_request', undefined]],
    [
      'not JSON by its type',
      'a=b',
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      [415, 'unsupported_media_type', undefined],
    ],
    ['an unknown encoding', '{}', { 'Content-Encoding': 'zstd-9' }, [415, 'unsupported_media_type', undefined]],
    ['a bare string', '"text"', {}, [400, 'invalid_request', ['body']]],
    ['members missing', '{}', {}, [400, 'invalid_request', ['wallet', 'amount']]],
    [
      'a member too many',
      '{"wallet":"0x0000000000000000000000000000000000000001","amount":"1","a":1}',
      {},
      [400, 'invalid_request', ['a']],
    ],
    [
      'nested 10,000 deep',
      `{"wallet":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      {},
      [400, 'invalid_request', ['body']],
    ],
    ['larger than the bound', `{"wallet":"${'x'.repeat(300_000)}"}`, {}, [413, 'too_large', undefined]],
  ])('%s', async (...[, body, headers, expected]) => {
    expect(await admin(body, headers)).toEqual(expected)
  })

  const chunk = Buffer.alloc(64 * 1024, 'x')
  const chunksSent = 4_096

  test.each<[string, 'none' | 'signed', [number, string]]>([
    ['to an unpaid row: the 402 comes at once', 'none', [402, 'payment_required']],
    ['to a paying row: refused, and never held', 'signed', [413, 'too_large']],
  ])('256 MB %s', async (_, payment, expected) => {
    const path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
    const buyer = await market.buyer('1.00')
    const offer = await market.call('POST', path, { body: {} })
    const signed = payment === 'signed' ? await signPayment(buyer.account, offer) : {}
    const headers = Object.entries(signed).map(([name, value]) => `${name}: ${value}`)
    const type = ['Content-Type: application/json', `Content-Length: ${chunksSent * chunk.length}`]
    const before = process.memoryUsage().rss
    let sent = 0
    const text = await raw(lines(`POST ${path} HTTP/1.1`, host(), ...type, ...headers), {
      more: () => (sent++ < chunksSent ? chunk : undefined),
    })
    expect(readCode(text)).toEqual(expected)
    // Sender and daemon share this process; a body that was held would add all of its 256 MB.
    expect(process.memoryUsage().rss - before).toBeLessThan(160 * 1024 * 1024)
    expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(1_000_000n)
  })
})

describe('slow senders', () => {
  let slow: Marketplace
  beforeAll(async () => {
    slow = await openMarketplace({ requestTimeoutMs: 300 })
  })
  afterAll(() => slow.close())

  test.each<[string, (path: string) => string]>([
    ['headers that never end', (path) => `POST ${path} HTTP/1.1\r\nHost: x\r\n`],
    ['a body that never comes', (path) => lines(`POST ${path} HTTP/1.1`, hostOf(slow), 'Content-Length: 100')],
  ])('%s: cut with the error form, and others are served meanwhile', async (_, head) => {
    const cut = raw(head('/v1/reputation/batch'), { at: slow })
    expect((await slow.call('GET', '/health')).status).toBe(200)
    const text = await cut
    expect(read(text)).toEqual([408, 'request_timeout']) // and nothing behind it
  })
})

test('problem+json has the same facts', async () => {
  const answer = await market.call('GET', '/v1/services/svc_0000000000000000', {
    headers: { Accept: 'application/problem+json' },
  })
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  const { detail } = answer.body
  expect(detail).toEqual(expect.any(String))
  expect(answer.body).toMatchObject({
    title: 'Not Found',
    status: 404,
    code: 'not_found',
    error: detail,
    message: detail,
  })
})

test.each([
  'limit=0',
  'limit=101',
  'limit=x',
  'offset=-1',
  'sort=cheap',
  'min_price=abc',
  'min_reputation=101',
  'verified_only=yes',
  'q=a&q=b',
])('catalog?%s is a 400 that names the parameter', async (query) => {
  const answer = await market.call('GET', `/v1/services/catalog?${query}`)
  expect([answer.status, answer.body.details[0].path]).toEqual([400, query.split('=')[0]])
})
