import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { boundConnections, type Connections, openPeers } from './connections.ts'
import { MAX_CONNECTIONS, MAX_CONNECTIONS_OF_ADDRESS } from './limits.ts'
import { sendReply } from './send.ts'

// @slow as many connections as may be open

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
    // Who came later was heard, so that this one was, too: until then it has said nothing as far as anybody knows.
    expect((await market.call('GET', '/v1/services/catalog', { headers: { Connection: 'close' } })).status).toBe(200)
    await sockets(market.url(), MAX_CONNECTIONS + 50)
    if (!waiting.readableEnded && !waiting.closed) await Promise.race([once(waiting, 'end'), once(waiting, 'close')])
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

describe('a stop waits for answers under way, and not for', () => {
  type Edge = { readonly server: Server; readonly connections: Connections; readonly url: string }

  async function edgeOf(server: Server, answer: (res: ServerResponse) => void): Promise<Edge> {
    const connections = boundConnections({ server }, openPeers({}), Date.now)
    server.on('request', (req: IncomingMessage, res: ServerResponse) => {
      connections.began(req, res)
      answer(res)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { server, connections, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }

  /** Closed as a daemon does it. */
  function stopped({ server, connections }: Edge): Promise<unknown> {
    const closed = once(server, 'close')
    server.close()
    connections.drain()
    return closed
  }

  const ask = (socket: Socket) => socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')

  test('whoever says nothing, has half a head, or keeps what was answered open', async () => {
    const waiting: ServerResponse[] = []
    const edge = await edgeOf(createServer(), (res) => void (waiting.length < 1 ? waiting.push(res) : res.end('here')))
    const asked = await socketTo(edge.url)
    ask(asked)
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const [silent, half, kept] = (await sockets(edge.url, 3)) as [Socket, Socket, Socket]
    half.write('GET / HTTP/1.1\r\nHo')
    ask(kept)
    await once(kept, 'data')
    const closed = stopped(edge)
    await Promise.all([silent, half, kept].map((socket) => socket.readableEnded || once(socket, 'end')))
    expect([asked.readableEnded, waiting[0]?.writableEnded]).toEqual([false, false])
    let text = ''
    asked.on('data', (chunk) => {
      text += chunk
    })
    waiting[0]?.end('the answer')
    await closed
    if (!asked.readableEnded) await once(asked, 'end')
    expect(text).toContain('the answer')
  })

  test('whoever opens a connection over TLS and shakes no hands', async () => {
    const edge = await edgeOf(createSecureServer(), () => undefined)
    const silent = await socketTo(edge.url)
    const closed = stopped(edge)
    await closed
    if (!silent.readableEnded) await once(silent, 'end')
  })

  test('a reader of events that takes nothing', async () => {
    const stopping = new AbortController()
    const event = { id: '1', event: 'job.created', data: 'x'.repeat(100_000) }
    async function* events() {
      while (!stopping.signal.aborted) yield event
    }
    const sent: Promise<void>[] = []
    const edge = await edgeOf(createServer(), (res) => {
      sent.push(sendReply(res, { kind: 'events', status: 200, headers: {}, events: events() }, stopping.signal))
    })
    const reader = await socketTo(edge.url)
    reader.pause()
    ask(reader)
    const held = () => new Promise((resolve) => edge.server.getConnections((_, count) => resolve(count)))
    while (sent.length === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(await held()).toBe(1)
    stopping.abort()
    await stopped(edge)
    await Promise.all(sent)
  })
})

test('who has just come may say its first words, where all others have begun to', async () => {
  const server = createServer()
  let begun = 0
  const connections = boundConnections({ server }, { ...openPeers({}), isProxy: () => false }, Date.now)
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    connections.began(req, res)
    begun += 1
    if (req.url === '/come') res.end('here')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await sockets(`http://127.0.0.1:${port}`, MAX_CONNECTIONS_OF_ADDRESS, UNFINISHED)
  while (begun < MAX_CONNECTIONS_OF_ADDRESS) await new Promise((resolve) => setImmediate(resolve))
  // All at once: the later ones are there before anything of the first is read.
  const come = Array.from({ length: 5 }, () => once(get({ port, path: '/come', agent: false }), 'response'))
  expect((await Promise.all(come)).map(([{ statusCode }]) => statusCode)).toEqual(Array(5).fill(200))
  server.closeAllConnections()
  server.close()
})

test('one address does not take the place of others, and its own newest goes on', async () => {
  const server = createServer((_req, res) => res.end('here'))
  // As if these came from other machines.
  boundConnections({ server }, { ...openPeers({}), isProxy: () => false }, Date.now)
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
