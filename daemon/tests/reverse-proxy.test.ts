import { readFileSync } from 'node:fs'
import { type IncomingMessage, request as plain } from 'node:http'
import { request as secure } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasNginx, type ReverseProxy, startNginx } from '../../fixtures/kit/nginx.testkit.ts'
import { type Marketplace, openMarketplace, signPayment } from '../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'

/*
 * The server block of docs/operating.md before a real daemon. Without nginx and openssl these tests are reported as not run;
 * with SOUK_REQUIRE_TOOLS=1 their absence fails.
 */

const NAME = 'souk.example.org'
const PUBLIC = `https://${NAME}`
const page = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8')
const site = /<!-- nginx -->\n```nginx\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
const isThere = await hasNginx()

let market: Marketplace
let proxy: ReverseProxy
let ann: Person

type Asked = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: unknown }

/** Through the proxy, as who looked its name up. */
function open(scheme: 'https' | 'http', path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const to = { host: '127.0.0.1', path, method, agent: false as const }
  const all = { Host: NAME, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers }
  return new Promise<IncomingMessage>((done, fail) => {
    const sent =
      scheme === 'https'
        ? secure({ ...to, port: proxy.https, headers: all, servername: NAME, ca: proxy.ca }, done)
        : plain({ ...to, port: proxy.http, headers: all }, done)
    sent.on('error', fail)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

async function call(scheme: 'https' | 'http', path: string, asked?: Asked) {
  const answer = await open(scheme, path, asked)
  let text = ''
  for await (const chunk of answer) text += chunk
  const isJson = answer.headers['content-type']?.startsWith('application/json')
  return { status: answer.statusCode, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined }
}

describe.skipIf(!isThere && process.env.SOUK_REQUIRE_TOOLS !== '1')('behind nginx with TLS', () => {
  beforeAll(async () => {
    expect(site).toContain('proxy_pass http://127.0.0.1:4020;')
    market = await openMarketplace({ publicUrl: PUBLIC })
    proxy = await startNginx(site.replace('http://127.0.0.1:4020', market.url()), NAME)
    ann = await registered(market, { type: 'agent', name: 'Ann' })
  })
  afterAll(async () => {
    await proxy?.stop()
    await market?.close()
  })

  test('every link of an answer is of the public address, whatever the request says', async () => {
    const headers = {
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-Proto': 'gopher',
      Forwarded: 'host=evil.example',
    }
    const unpaid = await call('https', '/v1/discover', { method: 'POST', headers })
    expect([unpaid.status, unpaid.body.accepts[0].resource]).toEqual([402, `${PUBLIC}/v1/discover`])
    const description = await call('https', '/openapi.json', { headers })
    expect(description.body.servers.map(({ url }: { url: string }) => url)).toEqual([PUBLIC])
    const { text } = await call('https', '/llms.txt', { headers })
    expect([text.includes(PUBLIC), text.includes('127.0.0.1'), text.includes('evil')]).toEqual([true, false, false])
  })

  test('a payment is taken over https, and refused uncharged over plain http', async () => {
    const asked = await call('https', '/v1/discover', { method: 'POST' })
    const headers = await signPayment(ann.account, { ...asked, status: 402, headers: new Headers() })
    const open = await call('http', '/v1/discover', { method: 'POST', headers })
    expect([open.status, open.body.error]).toEqual([400, expect.stringMatching(/plain HTTP.*https/)])
    const forged = { ...headers, 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '127.0.0.1' }
    expect((await call('http', '/v1/discover', { method: 'POST', headers: forged })).status).toBe(400)
    const paid = await call('https', '/v1/discover', { method: 'POST', headers })
    expect([paid.status, typeof paid.headers['x-payment-response']]).toEqual([200, 'string'])
  })

  test('events come through as they happen', async () => {
    const stream = await open('https', '/v1/events', {
      headers: { 'X-API-Key': ann.key, Accept: 'text/event-stream' },
    })
    expect([stream.statusCode, stream.headers['content-type']]).toEqual([200, 'text/event-stream'])
    const parts = stream[Symbol.asyncIterator]()
    let text = ''
    const until = async (word: string) => {
      while (!text.includes(word)) {
        const { value, done } = await parts.next()
        if (done) throw new Error(`the stream ended: ${text}`)
        text += value
      }
    }
    await until('event: connected')
    const slug = await market.serviceId('qr_code')
    const bought = await ann.pay(`/v1/services/${slug}/purchase`, { body: { data: 'x' } })
    expect(bought.status).toBe(200)
    await until(bought.body.job_id)
    stream.destroy()
  })

  test('another name is not served, and what is for the operator alone is not there', async () => {
    const other = await call('https', '/health', { headers: { Host: 'other.example' } })
    expect([other.status, other.body.code]).toEqual([421, 'misdirected'])
    for (const path of ['/metrics', '/dashboard/api/admin/jobs']) {
      expect((await call('https', path)).status).toBe(404)
    }
  })
})
