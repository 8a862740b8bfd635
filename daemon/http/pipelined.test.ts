import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { oneAtATime } from './one-at-a-time.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

/** Sends bytes on a connection of its own. @returns all that comes back until it is closed */
async function answersTo(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part
  })
  socket.write(bytes)
  await once(socket, 'close')
  return text
}

const statuses = (text: string) => text.match(/HTTP\/1\.1 \d+/g)

test('two Host headers are refused, whichever of them is served here', async () => {
  const port = Number(new URL(market.url()).port)
  const host = `Host: localhost:${port}\r\n`
  for (const hosts of [`${host}Host: elsewhere.example\r\n`, `Host: elsewhere.example\r\n${host}`, host + host]) {
    const text = await answersTo(port, `GET /health HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(text).toContain('"code":"invalid_request"')
  }
})

test('64 KB of searches on one connection keep nobody waiting: one is under way, and others have their turns', async () => {
  const port = Number(new URL(market.url()).port)
  const search = (at: number) => `GET /v1/services/catalog?q=a${at} HTTP/1.1\r\nHost: localhost:${port}\r\n`
  const count = 600
  const all = Array.from({ length: count }, (_, at) => `${search(at)}\r\n`).join('')
  const answers = answersTo(port, `${all}${search(count)}Connection: close\r\n\r\n`)
  let isOver = false
  let others = 0
  const asking = (async () => {
    for (; !isOver; others += 1) await market.call('GET', '/llms.txt')
  })()
  const text = await answers
  isOver = true
  await asking
  expect(statuses(text)).toEqual(Array(count + 1).fill('HTTP/1.1 200'))
  // Each of those that others ask for had its turn between them; all at once, one or two would.
  expect(others).toBeGreaterThan(20)
})

test('of a connection one request is under way, in the order in which they came, and what waits is bounded', async () => {
  const underWay: [IncomingMessage, ServerResponse][] = []
  const server = createServer(oneAtATime((req, res) => void underWay.push([req, res])))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const turns = async (isThere: () => boolean) => {
    while (!isThere()) await new Promise((done) => setImmediate(done))
  }
  const one = (path: string, rest = '\r\n') => `GET ${path} HTTP/1.1\r\nHost: here\r\n${rest}`
  const posted = `POST /c HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\r\nducks`
  const answers = answersTo(port, `${one('/a')}${one('/b')}${posted}${one('/d', 'Connection: close\r\n\r\n')}`)
  for (const [at, path] of ['/a', '/b', '/c', '/d'].entries()) {
    await turns(() => underWay.length > at)
    for (let turn = 0; turn < 5; turn += 1) await new Promise((done) => setImmediate(done))
    expect([underWay.length, underWay[at]?.[0].url]).toEqual([at + 1, path])
    const [req, res] = underWay[at] as [IncomingMessage, ServerResponse]
    let body = ''
    for await (const chunk of req) body += String(chunk)
    res.end(`${path}${body}`)
  }
  const text = await answers
  expect(statuses(text)).toHaveLength(4)
  expect(text).toContain('/cducks')
  server.close()
})
