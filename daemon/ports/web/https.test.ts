import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hostileChain } from '../../../fixtures/hostile/chain.ts'
import { openLoop } from '../../../fixtures/kit/loop.ts'
import { openAuthority } from '../tls/authority.testkit.ts'
import { WebError } from './error.ts'
import { type HopRequest, requestOnce } from './request.ts'
import { failureOf, openSite, type Site } from './site.testkit.ts'
import type { Web } from './web.ts'

// @slow certificates of every kind are made and met

/* Https runs on threads: the answer is that of the same request on this thread, and no other request is held up. */

const HOST = 'site.test'
let authority: ReturnType<typeof openAuthority>
let site: Site
let web: Web
const closing: { close: () => unknown }[] = []
beforeAll(async () => {
  authority = openAuthority()
  site = await openSite({}, authority.leaf({ name: HOST }))
  web = site.web({ ca: authority.root, exempt: () => true })
})
afterEach(() => {
  site.clear()
  for (const server of closing.splice(0)) server.close()
})
afterAll(async () => {
  await site.close()
  authority.close()
})

type Asked = {
  readonly url: string
  readonly maxBytes?: number
  readonly truncate?: boolean
  readonly timeoutMs?: number
}

/** The same request on this thread. */
function here({ url, maxBytes = 1024 * 1024, truncate = false, timeoutMs = 15_000 }: Asked) {
  const request: HopRequest = {
    host: HOST,
    port: Number(new URL(url).port),
    reach: 'any',
    addresses: [{ address: '127.0.0.1', family: 4 }],
    ca: authority.root,
    url,
    method: 'GET',
    headers: { accept: '*/*' },
    maxBytes,
    truncate,
  }
  return requestOnce(request, AbortSignal.timeout(timeoutMs))
}

const outcomeOf = (answer: Promise<Awaited<ReturnType<typeof requestOnce>>>) =>
  answer.then(
    ({ status, headers: { date: _date, ...headers }, body, truncated }) => ({ status, headers, body, truncated }),
    (error: unknown) => {
      if (error instanceof WebError) return [error.failure, error.message]
      throw error
    },
  )

async function bothWays(asked: Asked) {
  const { url, ...options } = asked
  return [await outcomeOf(web.get(url, { ...options, ignoreRobots: true })), await outcomeOf(here(asked))]
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(server)
  return (server.address() as AddressInfo).port
}

describe('an answer over https', () => {
  const large = Buffer.alloc(900_000, 'souk')

  async function drip(res: ServerResponse): Promise<void> {
    for (let at = 0; at < 10; at += 1) {
      res.write(`part ${at}`)
      await sleep(1)
    }
    res.end()
  }

  it.each<[string, Site['pages'][string], Omit<Asked, 'url'>]>([
    ['that is large', { body: large }, {}],
    ['in small parts', (_, res) => void drip(res), {}],
    ['without a body', { status: 204, headers: { 'x-a': 'b' } }, {}],
    [
      'with repeated headers',
      (_, res) =>
        res
          .writeHead(
            200,
            [
              ['set-cookie', 'a'],
              ['set-cookie', 'b'],
            ].flat(),
          )
          .end(),
      {},
    ],
    ['that is packed', { headers: { 'content-encoding': 'gzip' }, body: gzipSync(large) }, {}],
    ['that is packed wrongly', { headers: { 'content-encoding': 'gzip' }, body: 'x' }, {}],
    ['that is too large', { body: large }, { maxBytes: 899_999 }],
    ['that is cut off', { body: large }, { maxBytes: 899_999, truncate: true }],
    ['that is reset before it begins', (req) => req.socket.destroy(), {}],
    [
      'that is reset half-way',
      (req, res) => res.writeHead(200, { 'content-length': 9 }).write('half', () => req.socket.destroy()),
      {},
    ],
    ['with headers beyond all measure', { headers: { 'x-long': 'x'.repeat(40_000) } }, {}],
  ])('%s is the same on a thread', async (_, page, bounds) => {
    site.pages['/'] = page
    const [apart, direct] = await bothWays({ url: site.at('/'), ...bounds })
    expect(apart).toEqual(direct)
  })

  it('is the same on a thread, whatever it holds and however it is cut', async () => {
    const part = fc.uint8Array({ maxLength: 40_000, size: 'max' })
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 6 }),
        fc.integer({ min: 0, max: 100_000 }),
        async (parts, maxBytes) => {
          site.pages['/'] = (_, res) => {
            for (const one of parts) res.write(one)
            res.end()
          }
          const [apart, direct] = await bothWays({ url: site.at('/'), maxBytes, truncate: maxBytes % 2 === 0 })
          expect(apart).toEqual(direct)
        },
      ),
      { numRuns: 30 },
    )
  })

  it('is posted for with the body and the headers that were given', async () => {
    const got: unknown[] = []
    site.pages['/'] = async (req, res) => {
      got.push([req.headers['x-own'], Buffer.concat(await req.toArray()).length])
      res.end('taken')
    }
    const sent = { url: site.at('/'), headers: { 'x-own': 'yes' }, body: 'x'.repeat(300_000) }
    const answer = await web.post({ ...sent, maxBytes: 100, timeoutMs: 15_000 })
    expect([answer.body.toString(), got]).toEqual(['taken', [['yes', 300_000]]])
  })

  it.each<[string, () => Promise<number>, string]>([
    ['of another name', () => openOther({ name: 'other.test' }), 'tls_failed'],
    ['that is expired', () => openOther({ name: HOST, to: '20210101000000Z' }), 'tls_failed'],
    ['that signed itself', () => openOther({ name: HOST, issuer: 'self' }), 'tls_failed'],
    ['of nobody: no TLS at all', () => portOf(createTcpServer((socket) => socket.end('220 hello\r\n'))), 'tls_failed'],
    ['that is never shown', () => portOf(createTcpServer((socket) => socket.destroy())), 'connect_failed'],
    ['of a port where nothing listens', closedPort, 'connect_failed'],
    ['of a host that begins TLS anew', openRenegotiating, 'broken'],
  ])('with a certificate %s is the same refusal on a thread', async (_, open, failure) => {
    const [apart, direct] = await bothWays({ url: `https://${HOST}:${await open()}/` })
    expect([apart, (apart as string[])[0]]).toEqual([direct, failure])
  })

  async function openOther(wanted: Parameters<typeof authority.leaf>[0]): Promise<number> {
    const other = await openSite({}, authority.leaf(wanted))
    closing.push(other)
    return other.port
  }

  async function closedPort(): Promise<number> {
    const port = await portOf(createTcpServer())
    closing.splice(0)[0]?.close()
    return port
  }

  /** TLS 1.2 let either end begin anew, as often as it liked. */
  function openRenegotiating(): Promise<number> {
    const server = createTlsServer({ ...authority.leaf({ name: HOST }), maxVersion: 'TLSv1.2' }, (socket) => {
      socket.on('error', () => socket.destroy())
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nhalf')
        socket.renegotiate({}, (error) => socket.destroy(error ?? undefined))
      })
    })
    return portOf(server)
  }
})

describe('a request over https', () => {
  it('that is given up ends its connection, half-way or before an answer', async () => {
    for (const page of ['/silent', '/half']) {
      const caller = new AbortController()
      const { promise: gone, resolve } = Promise.withResolvers<unknown>()
      site.pages[page] = (req, res) => {
        req.socket.once('close', resolve)
        if (page === '/half') res.write('half')
        caller.abort()
      }
      const answer = web.get(site.at(page), { signal: caller.signal, ignoreRobots: true })
      expect(await failureOf(answer)).toBe('aborted')
      await gone
    }
  })

  it('is one of many: those that hang delay no other, and closing ends them all', async () => {
    const own = site.web({ ca: authority.root })
    const ended: Promise<unknown>[] = []
    site.pages['/hang'] = ({ socket }) => void ended.push(new Promise((resolve) => socket.once('close', resolve)))
    site.pages['/'] = { body: 'here' }
    const hanging = Array.from({ length: 100 }, () =>
      failureOf(own.get(site.at('/hang'), { ignoreRobots: true, timeoutMs: 600_000 })),
    )
    const answer = await own.get(site.at('/'), { ignoreRobots: true, timeoutMs: 600_000 })
    expect(answer.body.toString()).toBe('here')
    await own.close()
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['broken']))
    await Promise.all(ended)
    expect(ended.length).toBeGreaterThan(0)
  })
})

describe('a chain of certificates that takes long to verify', () => {
  let hostile: Site
  beforeAll(async () => {
    hostile = await openSite({}, hostileChain())
  })
  afterAll(() => hostile.close())

  const bounds = { maxBytes: 1_000, timeoutMs: 15_000 }
  it.each<[string, (web: Web, url: string) => Promise<unknown>]>([
    ['a page', (over, url) => over.get(url)],
    ['an endpoint', (over, url) => over.post({ url, headers: {}, body: '{}', ...bounds })],
    ['an interface', (over, url) => over.ask({ url, headers: {}, ...bounds })],
  ])('holds up nobody when it is that of %s', async (_, ask) => {
    const own = hostile.web()
    expect(await failureOf(ask(own, hostile.at('/')))).not.toBe('none') // the thread has started
    const loop = openLoop()
    const turn = await loop.longestTurn(async () =>
      expect(await failureOf(ask(own, hostile.at('/')))).toBe('tls_failed'),
    )
    expect(turn).toBeLessThan(loop.limitMs)
  })
})
