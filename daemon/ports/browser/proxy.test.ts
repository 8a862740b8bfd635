import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { inUrl, loopbackSpellings, specialAddresses } from '../web/address.testkit.ts'
import { openSite, type Site } from '../web/site.testkit.ts'
import type { Web } from '../web/web.ts'
import { type GuardedProxy, MAX_CONNECTIONS, openProxy } from './proxy.ts'

let site: Site
let proxy: GuardedProxy | undefined
const exceeded: string[] = []
beforeAll(async () => {
  site = await openSite()
})
afterEach(async () => {
  await proxy?.close()
  exceeded.length = 0
  site.clear()
})
afterAll(() => site.close())

const open = async (web: Pick<Web, 'dial'>) => {
  proxy = await openProxy({ web, onExceeded: (what) => exceeded.push(what) })
  return proxy
}

/** Status of an answer to CONNECT, or of a plain request; 0: it hung up. */
function ask({ port }: GuardedProxy, method: string, path: string): Promise<number> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, method, path, agent: false })
    sent.on('connect', ({ statusCode = 0 }, socket) => {
      socket.destroy()
      resolve(statusCode)
    })
    sent.on('response', (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('error', () => resolve(0))
    sent.end()
  })
}

describe('the proxy of a browser', () => {
  it('refuses every special address, literally and by name, and every spelling of loopback', async () => {
    for (const [address] of specialAddresses) {
      const family = address.includes(':') ? 6 : 4
      const strict = await open(site.web({ exempt: () => false, resolve: async () => [{ address, family }] }))
      const said = await Promise.all([
        ask(strict, 'CONNECT', `${inUrl(address)}:443`),
        ask(strict, 'CONNECT', 'named.test:443'),
        ask(strict, 'GET', `http://${inUrl(address)}/`),
        ask(strict, 'GET', 'http://named.test/'),
      ])
      expect([address, ...said]).toEqual([address, 403, 403, 0, 0])
      await strict.close()
    }
    const strict = await open(site.web({ exempt: () => false }))
    for (const spelling of loopbackSpellings) {
      expect(await ask(strict, 'GET', encodeURI(`http://${spelling}/`))).toBe(0)
      expect(await ask(strict, 'CONNECT', encodeURI(`${spelling}:443`))).toBe(403)
    }
    expect(site.asked).toEqual([])
  })

  it('refuses a name with one bad address among good ones, and says why', async () => {
    const mixed = ['93.184.216.34', '10.0.0.1'].map((address) => ({ address, family: 4 as const }))
    const strict = await open(site.web({ exempt: () => false, resolve: async () => mixed }))
    expect(await ask(strict, 'CONNECT', 'mixed.test:443')).toBe(403)
    expect(strict.refusals.get('https://mixed.test')).toMatchObject({ failure: 'address_refused' })
  })

  it('leads to the port of https alone, and takes no other scheme', async () => {
    const strict = await open(site.web({ exempt: () => false }))
    for (const port of [22, 25, 80, 8_080, 65_536]) expect(await ask(strict, 'CONNECT', `site.test:${port}`)).toBe(403)
    for (const url of ['ftp://site.test/', 'https://site.test/', 'file:///etc/passwd', '/relative']) {
      expect(await ask(strict, 'GET', url)).toBe(0)
    }
  })

  it('hangs up on a first line that may be read but not said again, and lives on', async () => {
    const lines = ['HTTP/1.1 099 X', 'HTTP/1.1 000 X', 'HTTP/1.1 200 \x01', 'HTTP/1.1 200 \x7f']
    const hostile = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.once('data', () => socket.end(`${lines.shift()}\r\ncontent-length: 0\r\n\r\n`, 'latin1'))
    }).listen(0, '127.0.0.1')
    await once(hostile, 'listening')
    const { port } = hostile.address() as AddressInfo
    const open_ = await open(site.web({ exempt: () => true }))
    for (const _ of [...lines]) expect(await ask(open_, 'GET', `http://127.0.0.1:${port}/`)).toBe(0)
    expect(lines).toEqual([])
    hostile.close()
    site.pages['/'] = { body: 'here' }
    expect(await ask(open_, 'GET', site.at('/'))).toBe(200)
  })

  it('only reads: what would write is not passed on', async () => {
    site.pages['/'] = { body: 'here' }
    const open_ = await open(site.web())
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])
      expect(await ask(open_, method, site.at('/'))).toBe(0)
    expect(await ask(open_, 'GET', site.at('/'))).toBe(200)
    expect(await ask(open_, 'HEAD', site.at('/'))).toBe(200)
    expect(site.asked).toEqual(['GET /', 'HEAD /'])
  })

  it('connects once for each asking, and stops for good when there are too many', async () => {
    site.pages['/'] = { body: 'here' }
    const counting = await open(site.web())
    for (let i = 0; i < MAX_CONNECTIONS; i += 1) await ask(counting, 'GET', site.at('/'))
    expect(exceeded).toEqual([])
    expect(await ask(counting, 'GET', site.at('/'))).toBe(0)
    expect(await ask(counting, 'CONNECT', 'site.test:443')).toBe(403)
    expect(exceeded).toEqual([`The page opens more than ${MAX_CONNECTIONS} connections`])
    expect(site.asked).toHaveLength(MAX_CONNECTIONS)
  })

  it('carries a tunnel both ways, and ends it with the job', async () => {
    const echo = createServer((socket) => socket.pipe(socket))
    echo.listen(0, '127.0.0.1')
    await once(echo, 'listening')
    const { port } = echo.address() as AddressInfo
    const tunnel = await open(site.web({ exempt: (place) => place.port === port }))
    const socket = connect(tunnel.port, '127.0.0.1')
    socket.write(`CONNECT echo.test:${port} HTTP/1.1\r\nhost: echo.test\r\n\r\n`)
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200/)
    socket.write('hello')
    expect(String((await once(socket, 'data'))[0])).toBe('hello')
    const closed = once(socket, 'close')
    await tunnel.close()
    await closed
    echo.close()
  })
})
