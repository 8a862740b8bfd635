import { readFileSync } from 'node:fs'
import { type IncomingMessage, request as plain } from 'node:http'
import { request as secure } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasCaddy, startCaddy } from '../../fixtures/kit/caddy.testkit.ts'
import { hasNginx, type ReverseProxy, startNginx } from '../../fixtures/kit/nginx.testkit.ts'
import { type Marketplace, openMarketplace, signPayment } from '../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'

/*
 * The blocks of docs/reference/operating.md before a real daemon, each by its proxy. Without nginx and openssl, or without Caddy,
 * their tests are reported as not run; with SOUK_REQUIRE_TOOLS=1 their absence fails.
 */

const NAME = 'souk.example.org'
const PUBLIC = `https://${NAME}`
const page = readFileSync(join(import.meta.dirname, '../../docs/reference/operating.md'), 'utf8')
const blockOf = (kind: string) =>
  new RegExp(`<!-- ${kind} -->\n\`\`\`${kind}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''
const isRequired = process.env.SOUK_REQUIRE_TOOLS === '1'
/** What each proxy makes of a payment over plain http: it reaches the daemon, which refuses it, or it is sent to https. */
const proxies = [
  { kind: 'nginx', start: startNginx, isThere: await hasNginx(), plain: [400, /plain HTTP.*https/] },
  { kind: 'caddy', start: startCaddy, isThere: await hasCaddy(), plain: [308, /^$/] },
] as const

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

for (const { kind, isThere, start, plain: overPlain } of proxies)
  describe.skipIf(!isThere && !isRequired)(`behind ${kind} with TLS`, () => {
    beforeAll(async () => {
      const block = blockOf(kind)
      expect(block).toContain('127.0.0.1:4020')
      market = await openMarketplace({ publicUrl: PUBLIC })
      proxy = await start(block.replace('127.0.0.1:4020', new URL(market.url()).host), NAME)
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
      const [status, said] = overPlain
      const open = await call('http', '/v1/discover', { method: 'POST', headers })
      expect([open.status, open.body?.error ?? '']).toEqual([status, expect.stringMatching(said)])
      const forged = { ...headers, 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '127.0.0.1' }
      expect((await call('http', '/v1/discover', { method: 'POST', headers: forged })).status).toBe(status)
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
      // Caddy has no site of that name, and says nothing; nginx asks the daemon.
      expect([other.status, other.body?.code ?? '']).toEqual(kind === 'nginx' ? [421, 'misdirected'] : [200, ''])
      for (const path of ['/metrics', '/dashboard/api/admin/jobs']) {
        expect((await call('https', path)).status).toBe(404)
      }
    })
  })
