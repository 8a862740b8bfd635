import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { inUrl, loopbackSpellings, specialAddresses } from './address.testkit.ts'
import { guardedConnector, type ResolvedAddress } from './connect.ts'
import type { WebError, WebFailure } from './error.ts'
import { failureOf, openSite, type Site } from './site.testkit.ts'
import { redirectTarget, targetOf } from './target.ts'
import { openWeb, type Web } from './web.ts'

const OWN_PORT = 4_020

let site: Site
let web: Web
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => {
  site.clear()
  web = site.web()
})
afterAll(() => site.close())

const found = (address: string): ResolvedAddress => ({ address, family: address.includes(':') ? 6 : 4 })
const post = (over: Web, url: string) => over.post({ url, headers: {}, body: '{}', maxBytes: 1_000, timeoutMs: 5_000 })
/** A fetcher without exemptions, over a resolver that knows one answer. */
const strict = (addresses: readonly string[], localWebhooks = false) =>
  openWeb({
    ownPort: () => OWN_PORT,
    localWebhooks,
    wall: Date.now,
    resolve: async () => addresses.map(found),
  })

describe('a special address', () => {
  it.each(specialAddresses)('%s (%s) is refused literally, by name and as a webhook', async (address) => {
    const literal = strict([])
    const named = strict([address])
    expect(await failureOf(literal.get(`http://${inUrl(address)}/`))).toBe('address_refused')
    expect(await failureOf(named.get('http://name.test/', { ignoreRobots: true }))).toBe('address_refused')
    expect(await failureOf(post(literal, `https://${inUrl(address)}/`))).toBe('address_refused')
    expect(await failureOf(post(named, 'https://name.test/'))).toBe('address_refused')
    expect(await failureOf(named.resolve('name.test'))).toBe('address_refused')
  })

  it.each(specialAddresses)('%s (%s) is refused after a redirect, by literal and by name', async (address) => {
    const towards = site.web({ resolve: async (host) => [found(host === 'site.test' ? '127.0.0.1' : address)] })
    for (const host of [inUrl(address), 'inside.test']) {
      site.pages['/start'] = { status: 302, headers: { location: `http://${host}/` } }
      expect(await failureOf(towards.get(site.at('/start')))).toBe('address_refused')
    }
  })

  it.each(loopbackSpellings)('%s is refused as the loopback that it is', async (spelling) => {
    expect(await failureOf(strict([]).get(`http://${spelling}/`))).toBe('address_refused')
  })

  it('refuses a name when any one of its addresses is bad', async () => {
    for (const addresses of [
      ['93.184.216.34', '10.0.0.1'],
      ['2606:4700:4700::1111', '93.184.216.34', '::1'],
    ]) {
      expect(await failureOf(strict(addresses).get('http://mixed.test/'))).toBe('address_refused')
    }
  })

  it('never tells what a name resolved to', async () => {
    const error = await strict(['10.11.12.13'])
      .get('http://inside.test/')
      .catch((thrown: WebError) => thrown)
    expect(error).toMatchObject({ message: 'The host is not on the public internet.' })
  })
})

describe('a name that changes its answer', () => {
  it.each(specialAddresses)('to %s (%s) is judged by the answer that is connected to', async (address) => {
    let asked = 0
    const rebinding = site.web({
      resolve: async () => {
        asked += 1
        return [found(asked === 1 ? '93.184.216.34' : address)]
      },
      exempt: () => false,
    })
    // A check of its own sees the public answer; the fetch right after it gets the other one.
    expect(await rebinding.resolve('rebind.test')).toEqual([found('93.184.216.34')])
    expect(await failureOf(rebinding.get('http://rebind.test/', { ignoreRobots: true }))).toBe('address_refused')
    expect(site.asked).toEqual([])
  })

  it('is resolved once for a connection: the addresses checked are handed to the socket', async () => {
    let asked = 0
    const counting = site.web({
      resolve: async () => {
        asked += 1
        return [found('127.0.0.1')]
      },
    })
    site.pages['/'] = { body: 'here' }
    await counting.get(site.at('/'), { ignoreRobots: true })
    expect(asked).toBe(1)
  })

  it('is caught at the socket, even when what was checked is not what is connected to', async () => {
    const target = targetOf('http://public.test/', 'public', { ownPort: () => OWN_PORT, localWebhooks: false })
    const guarded = guardedConnector({ ...target, port: site.port, addresses: [found('127.0.0.1')] }, () => {
      throw new Error('must not count as connected')
    })
    const outcome = await new Promise((done) => {
      guarded({ hostname: 'public.test', protocol: 'http:', port: '80' }, (error, socket) => done({ error, socket }))
    })
    expect(outcome).toMatchObject({ error: { failure: 'address_refused' }, socket: null })
  })
})

describe('the policy for pages', () => {
  it.each<[string, WebFailure]>([
    ['not a url', 'url_invalid'],
    ['', 'url_invalid'],
    [`http://example.com/${'x'.repeat(2_048)}`, 'url_invalid'],
    ['ftp://example.com/', 'scheme_refused'],
    ['file:///etc/passwd', 'scheme_refused'],
    ['data:text/html,hi', 'scheme_refused'],
    ['gopher://example.com/', 'scheme_refused'],
    ['http://example.com:8080/', 'port_refused'],
    ['https://example.com:22/', 'port_refused'],
    ['http://user@example.com/', 'credentials_refused'],
    ['https://user:word@example.com/', 'credentials_refused'],
  ])('%s is %s', async (url, failure) => {
    expect(await failureOf(strict(['93.184.216.34']).get(url))).toBe(failure)
  })
})

describe('the policy for webhooks', () => {
  const away = (url: string) => failureOf(post(strict(['127.0.0.1']), url))
  const local = (url: string) => failureOf(post(strict(['127.0.0.1'], true), url))

  it('leaves the machine over https only', async () => {
    expect(await local('http://example.com/')).toBe('scheme_refused')
    expect(await local('https://example.com:25/')).toBe('port_refused')
  })

  it.each(['127.0.0.1', '127.9.9.9', '[::1]', 'localhost'])(
    'may stay on %s where the marketplace is local',
    async (host) => {
      expect(await away(`http://${host}:${site.port}/`)).toBe('address_refused')
      expect(await away(`https://${host}:${site.port}/`)).toBe('address_refused')
      expect(await local(`http://${host}:${OWN_PORT}/`)).toBe('port_refused')
    },
  )

  it('reaches a local endpoint, and never the daemon itself', async () => {
    site.pages['/hook'] = { body: 'taken' }
    const answer = await post(strict([], true), `http://127.0.0.1:${site.port}/hook`)
    expect([answer.status, answer.body.toString(), site.asked]).toEqual([200, 'taken', ['POST /hook']])
    const self = openWeb({ ownPort: () => site.port, localWebhooks: true, wall: Date.now })
    for (const host of ['127.0.0.1', '[::1]', 'localhost', '2130706433']) {
      expect(await failureOf(post(self, `http://${host}:${site.port}/hook`))).toBe('port_refused')
    }
    expect(site.asked).toHaveLength(1)
  })

  it('does not take a public name for this machine', async () => {
    expect(await local(`https://evil.test:${site.port}/`)).toBe('address_refused')
    expect(await local('https://evil.test/')).toBe('address_refused')
  })

  it('does not take another form of loopback for this machine, nor a private address', async () => {
    for (const host of ['[::ffff:127.0.0.1]', '[::127.0.0.1]', '10.0.0.1', '192.168.1.1']) {
      expect(await local(`https://${host}:${site.port}/`)).toBe('address_refused')
    }
  })

  it('takes a redirect for an answer', async () => {
    site.pages['/hook'] = { status: 307, headers: { location: site.at('/other') } }
    expect((await post(strict([], true), `http://127.0.0.1:${site.port}/hook`)).status).toBe(307)
    expect(site.asked).toEqual(['POST /hook'])
  })
})

describe('a redirect', () => {
  it('is followed to its end, five times at most', async () => {
    const hops = (count: number) => {
      for (let hop = 0; hop < count; hop += 1) {
        site.pages[`/${hop}`] = { status: 302, headers: { location: `/${hop + 1}` } }
      }
      site.pages[`/${count}`] = { body: 'the end' }
    }
    hops(5)
    const answer = await web.get(site.at('/0'))
    expect([answer.url, answer.body.toString(), answer.redirects.length]).toEqual([site.at('/5'), 'the end', 5])
    hops(6)
    expect(await failureOf(web.get(site.at('/0')))).toBe('too_many_redirects')
  })

  it('carries no credentials and no fragment, and may not name some', async () => {
    const headers: unknown[] = []
    site.pages['/a'] = (req, res) => {
      headers.push([req.headers.authorization, req.headers.cookie])
      res.writeHead(302, { location: site.at('/b#part', 'other.test'), 'set-cookie': 'a=b' }).end()
    }
    site.pages['/b'] = (req, res) => {
      headers.push([req.headers.authorization, req.headers.cookie])
      res.end()
    }
    expect((await web.get(site.at('/a'))).url).toBe(site.at('/b', 'other.test'))
    expect(headers).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ])
    site.pages['/a'] = { status: 302, headers: { location: `http://u:p@site.test:${site.port}/b` } }
    expect(await failureOf(web.get(site.at('/a')))).toBe('credentials_refused')
  })

  it.each<[string, WebFailure]>([
    ['http://site.test/', 'downgrade_refused'],
    ['ftp://site.test/', 'scheme_refused'],
    ['http://[', 'url_invalid'],
    ['//10.0.0.1/', 'address_refused'],
    ['https://site.test:8443/', 'port_refused'],
  ])('from https to %s is %s', (location, failure) => {
    const check = (url: string) => targetOf(url, 'public', { ownPort: () => OWN_PORT, localWebhooks: false })
    expect(() => redirectTarget(check('https://site.test/'), location, check)).toThrow(
      expect.objectContaining({ failure }),
    )
  })

  it('to a page that robots.txt closes is not followed', async () => {
    site.pages['/robots.txt'] = { body: 'User-agent: *\nDisallow: /closed' }
    site.pages['/start'] = { status: 301, headers: { location: '/closed/page' } }
    expect(await failureOf(web.get(site.at('/start')))).toBe('robots_refused')
    expect(site.asked).toEqual(['GET /robots.txt', 'GET /start'])
  })
})

describe('a body', () => {
  const text = 'souk '.repeat(2_000)

  it.each([
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
  ])('packed as %s is unpacked', async (encoding, body) => {
    site.pages['/'] = { headers: { 'content-encoding': encoding }, body }
    expect((await web.get(site.at('/'))).body.toString()).toBe(text)
  })

  it('counts as what it unpacks to', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024))
    site.pages['/'] = { headers: { 'content-encoding': 'gzip' }, body: bomb }
    expect(bomb.length).toBeLessThan(10_000)
    expect(await failureOf(web.get(site.at('/')))).toBe('too_large')
    const cut = await web.get(site.at('/'), { truncate: true, maxBytes: 100_000 })
    expect([cut.body.length, cut.truncated]).toEqual([100_000, true])
  })

  it('may be exactly as long as the limit and not a byte longer', async () => {
    site.pages['/'] = { body: Buffer.alloc(1_000) }
    const whole = await web.get(site.at('/'), { maxBytes: 1_000 })
    expect([whole.body.length, whole.truncated]).toEqual([1_000, false])
    expect(await failureOf(web.get(site.at('/'), { maxBytes: 999 }))).toBe('too_large')
  })

  it('that never ends is cut off', async () => {
    site.pages['/'] = (_req, res) => {
      const more = () => {
        while (!res.destroyed && res.write(Buffer.alloc(65_536)));
      }
      res.on('drain', more).on('error', () => res.destroy())
      more()
    }
    expect(await failureOf(web.get(site.at('/')))).toBe('too_large')
    expect((await web.get(site.at('/'), { truncate: true })).body.length).toBe(1024 * 1024)
  })

  it('that goes on for ever and unpacks to nothing is cut off', async () => {
    const emptyBlocks = Buffer.alloc(65_535, Buffer.from([0, 0, 0, 0xff, 0xff]))
    site.pages['/'] = (_req, res) => {
      res.writeHead(200, { 'content-encoding': 'gzip' }).write(Buffer.from([31, 139, 8, 0, 0, 0, 0, 0, 0, 3]))
      const more = () => {
        while (!res.destroyed && res.write(emptyBlocks));
      }
      res.on('drain', more).on('error', () => res.destroy())
      more()
    }
    expect(await failureOf(web.get(site.at('/'), { truncate: true, timeoutMs: 4_000 }))).toBe('too_large')
  })

  it.each<{ name: string; encoding: string; body: Buffer | string; failure: WebFailure }>([
    { name: 'an unknown packing', encoding: 'zstd', body: 'x', failure: 'encoding_refused' },
    { name: 'one on top of another', encoding: 'gzip, br', body: 'x', failure: 'encoding_refused' },
    { name: 'a member of every object', encoding: 'constructor', body: 'x', failure: 'encoding_refused' },
    { name: 'something not packed at all', encoding: 'gzip', body: 'x', failure: 'broken' },
    { name: 'half of it', encoding: 'gzip', body: gzipSync(text).subarray(0, 20), failure: 'broken' },
  ])('with $name is refused', async ({ encoding, body, failure }) => {
    site.pages['/'] = { headers: { 'content-encoding': encoding }, body }
    expect(await failureOf(web.get(site.at('/')))).toBe(failure)
  })
})

describe('a request that fails', () => {
  it('is given up when its whole time is over, headers or body missing', async () => {
    site.pages['/silent'] = () => undefined
    site.pages['/half'] = (_req, res) => void res.write('half')
    for (const path of ['/silent', '/half']) {
      expect(await failureOf(web.get(site.at(path), { timeoutMs: 60, ignoreRobots: true }))).toBe('timeout')
    }
    const deaf = site.web({ resolve: () => Promise.withResolvers<never>().promise })
    expect(await failureOf(deaf.get(site.at('/'), { timeoutMs: 20 }))).toBe('timeout')
  })

  it('is given up with its caller', async () => {
    const caller = new AbortController()
    site.pages['/silent'] = () => caller.abort()
    const options = { signal: caller.signal, ignoreRobots: true } as const
    expect(await failureOf(web.get(site.at('/silent'), options))).toBe('aborted')
    expect(await failureOf(web.get(site.at('/'), { signal: AbortSignal.abort() }))).toBe('aborted')
  })

  it('tells whether anything was sent', async () => {
    const closed = await openSite()
    await closed.close()
    const refused = await closed
      .web()
      .get(closed.at('/'))
      .catch((error: WebError) => [error.failure, error.wasNeverSent])
    expect(refused).toEqual(['connect_failed', true])
    const unknown = site.web({ resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await failureOf(unknown.get(site.at('/')))).toBe('dns_failed')
    expect(await failureOf(site.web({ resolve: async () => [] }).get(site.at('/')))).toBe('dns_failed')
    expect(await failureOf(web.get(site.at('/').replace('http:', 'https:')))).toBe('tls_failed')
    site.pages['/'] = (req) => req.socket.destroy()
    const broken = await web
      .get(site.at('/'), { ignoreRobots: true })
      .catch((error: WebError) => [error.failure, error.wasNeverSent])
    expect(broken).toEqual(['broken', false])
  })

  it('with headers beyond all measure is broken', async () => {
    site.pages['/'] = { headers: { 'x-long': 'x'.repeat(40_000) } }
    expect(await failureOf(web.get(site.at('/'), { ignoreRobots: true }))).toBe('broken')
  })
})

test('a host name resolves for protocols other than HTTP, and a bad one does not', async () => {
  expect(await strict(['93.184.216.34']).resolve('name.test')).toEqual([found('93.184.216.34')])
  for (const host of ['127.0.0.1', 'a/b@10.0.0.1', 'a b']) {
    expect(await failureOf(strict(['10.0.0.1']).resolve(host))).not.toBe('none')
  }
})
