import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { boundConnections } from './connections.ts'
import { MAX_CONNECTIONS, MAX_CONNECTIONS_OF_ADDRESS } from './limits.ts'
import { openPeers } from './peers.ts'

const UNFINISHED = 'POST /v1/reputation/batch HTTP/1.1\r\nHost: localhost:PORT\r\nContent-Length: 100\r\n\r\n'
const open = new Set<Socket>()

async function socketTo(url: string, from = '127.0.0.1'): Promise<Socket> {
  const { port } = new URL(url)
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: from, allowHalfOpen: true })
  open.add(socket)
  socket.on('error', () => undefined) // who is thrown out hears of it so
  socket.resume()
  await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  return socket
}

async function sockets(url: string, count: number, send = ''): Promise<Socket[]> {
  const made: Socket[] = []
  for (let i = 0; i < count; i += 1) {
    const socket = await socketTo(url)
    if (send !== '') socket.write(send.replace('PORT', new URL(url).port))
    made.push(socket)
  }
  return made
}

afterEach(() => {
  for (const socket of open) socket.destroy()
  open.clear()
})

describe('nobody keeps others out', () => {
  let market: Marketplace
  beforeAll(async () => {
    market = await openMarketplace()
  })
  afterAll(() => market.close())

  test.each([
    ['by connections that say nothing', ''],
    ['by requests whose body never comes', UNFINISHED],
  ])('%s', async (_, send) => {
    await sockets(market.url(), MAX_CONNECTIONS + 50, send)
    const page = await market.call('GET', '/v1/services/catalog', { headers: { Connection: 'close' } })
    expect(page.status).toBe(200)
    const status = await market.admin('GET', '/dashboard/api/admin/platform/status', {
      headers: { Connection: 'close' },
    })
    expect(status.status).toBe(200)
  })

  test('nor does one whose answer is on its way lose it to them', async () => {
    const waiting = await socketTo(market.url())
    const { port } = new URL(market.url())
    let text = ''
    waiting.on('data', (chunk) => {
      text += chunk
    })
    waiting.write(`GET /v1/services/catalog HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`)
    await sockets(market.url(), MAX_CONNECTIONS + 50)
    if (!waiting.readableEnded) await once(waiting, 'end')
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('whoever says nothing for too long', () => {
  let market: Marketplace
  beforeAll(async () => {
    market = await openMarketplace({ requestTimeoutMs: 200 })
  })
  afterAll(() => market.close())

  test('is let go wholly, also if it never closes its own side', async () => {
    const silent = await socketTo(market.url())
    await once(silent, 'end')
    // A connection that is gone answers with a reset; one that is half open takes all that comes.
    const gone = new Promise((done) => silent.once('close', done))
    const more = setInterval(() => silent.write('x'), 10)
    await gone
    clearInterval(more)
  })
})

test('one address does not take the place of others, and its own newest goes on', async () => {
  const server = createServer((_req, res) => res.end('here'))
  // As if these came from other machines.
  boundConnections(server, { ...openPeers({}), isProxy: () => false })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const other = await socketTo(url, '127.0.0.2')
  const [oldest] = await sockets(url, MAX_CONNECTIONS_OF_ADDRESS + 1)
  if (!oldest?.readableEnded) await once(oldest as Socket, 'end')
  expect(other.readableEnded).toBe(false)
  const [answer] = await once(get(url, { agent: false }), 'response')
  expect(answer.statusCode).toBe(200)
  answer.resume()
  server.closeAllConnections()
  server.close()
})
