import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { patient } from './exchange.ts'
import { createTransport, type InTheClear, keepConnections, readOnTheWay, type TransportOptions } from './transport.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function to(listener: RequestListener, options: Partial<TransportOptions> = {}) {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return createTransport({ baseUrl: `http://127.0.0.1:${port}/base/`, ...options })
}

describe('transport', () => {
  it('joins base and path, sends headers and body, reads status, headers and text', async () => {
    const send = await to(
      (request, response) => {
        const parts: Buffer[] = []
        request
          .on('data', (part) => parts.push(part))
          .on('end', () => {
            response.writeHead(402, { 'X-Price': '1' })
            response.end(
              [
                request.method,
                request.url,
                request.headers['x-api-key'],
                request.headers['content-length'],
                Buffer.concat(parts),
              ].join(' '),
            )
          })
      },
      { headers: { 'X-API-Key': 'sk_default' } },
    )
    const answer = await send({ method: 'POST', path: '/v1/x?a=1', body: 'grüß', headers: { 'x-api-key': 'sk_own' } })
    expect([answer.status, answer.headers['x-price'], await answer.text()]).toEqual([
      402,
      '1',
      'POST /base/v1/x?a=1 sk_own 6 grüß',
    ])
  })

  it('hands a body over as it arrives', async () => {
    let end = (): unknown => undefined
    const send = await to((_request, response) => {
      response.write('one')
      end = () => response.end('two')
    })
    const parts: string[] = []
    for await (const part of (await send({ method: 'GET', path: '/' })).chunks()) {
      parts.push(Buffer.from(part).toString())
      end()
    }
    expect(parts).toEqual(['one', 'two'])
  })

  it.each([
    ['refused', async () => createTransport({ baseUrl: 'http://127.0.0.1:1' }), {}],
    ['timeout', async () => to(() => undefined), { timeoutMs: 50 }],
    ['aborted', async () => to(() => undefined), { signal: AbortSignal.timeout(50) }],
    ['broken', async () => to((request) => request.socket.destroy()), {}],
  ])('tells %s', async (failure, open, more) => {
    const send = await open()
    await expect(send({ method: 'GET', path: '/', ...more })).rejects.toMatchObject({ name: 'TransportError', failure })
  })

  it.each([
    ['a length that says so', { 'content-length': '11' }],
    ['nothing that says so', {}],
  ])('ends a file that is larger than it may be, with %s', async (_, headers) => {
    const send = await to((_request, response) => {
      response.writeHead(200, headers).end('eleven byte')
    })
    const read = async (maxBytes: number) => {
      let text = ''
      for await (const part of (await send({ method: 'GET', path: '/' })).file(maxBytes)) text += Buffer.from(part)
      return text
    }
    expect(await read(11)).toBe('eleven byte')
    await expect(read(10)).rejects.toMatchObject({ failure: 'too_large' })
  })

  it('ends a file that trickles, and none whose reader takes its time', async () => {
    const send = await to((request, response) => {
      if (request.url?.endsWith('/whole')) {
        response.end('whole')
        return
      }
      const timer = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(timer))
    })
    const read = async (path: string, { timeoutMs, restMs }: { timeoutMs: number; restMs: number }) => {
      let text = ''
      const answer = await send({ method: 'GET', path, timeoutMs })
      for await (const part of answer.file()) {
        text += Buffer.from(part)
        if (restMs > 0) await new Promise((done) => setTimeout(done, restMs))
      }
      return text
    }
    await expect(read('/drip', { timeoutMs: 300, restMs: 0 })).rejects.toMatchObject({ failure: 'timeout' })
    // Long enough for a machine that is busy with others to send it.
    expect(await read('/whole', { timeoutMs: 4_000, restMs: 4_100 })).toBe('whole')
  })

  it('tells a body that breaks off', async () => {
    const send = await to((_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half', () => response.socket?.destroy())
    })
    const answer = await send({ method: 'GET', path: '/' })
    await expect(answer.text()).rejects.toMatchObject({ failure: 'broken' })
  })
})

describe('a secret over plain HTTP', () => {
  it.each<[string, string, InTheClear | undefined, boolean]>([
    ['http://127.0.0.1:4020', 'x-api-key', undefined, false],
    ['http://localhost:4020', 'Authorization', undefined, false],
    ['http://[::1]:4020', 'x-payment', undefined, false],
    ['https://shop.example', 'x-api-key', undefined, false],
    ['http://shop.example', 'accept', undefined, false],
    ['http://shop.example', 'X-API-Key', undefined, true],
    ['http://192.168.1.5:4020', 'authorization', undefined, true],
    ['http://10.0.0.1', 'SIGN-IN-WITH-X', undefined, true],
    ['http://127.0.0.1.shop.example', 'x-api-key', undefined, true],
    ['http://localhost.shop.example', 'x-api-key', undefined, true],
    ['http://127.0.0.1@shop.example', 'x-api-key', undefined, true],
    ['http://shop.example', 'x-api-key', 'credentials', false],
    ['http://shop.example', 'x-balance-auth', 'credentials', true],
    ['http://shop.example', 'payment-signature', 'credentials', true],
    ['http://192.168.1.5:4020', 'x-payment', 'everything', false],
  ])('to %s in %s, allowed %s: read on the way %s', (...[url, name, allowed, expected]) => {
    expect(readOnTheWay(url, ['accept', name], allowed)).toBe(expected)
  })

  it('is not sent: not one byte reaches the other side', async () => {
    let heard = 0
    const server = createServer((_request, response) => response.end('{}'))
    server.on('connection', () => {
      heard += 1
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // This machine by a name that could be another's.
    const baseUrl = `http://0.0.0.0:${(server.address() as AddressInfo).port}`
    const send = createTransport({ baseUrl, headers: { authorization: 'Bearer secret' } })
    await expect(send({ method: 'GET', path: '/' })).rejects.toMatchObject({ failure: 'in_the_clear' })
    expect(heard).toBe(0)
    const trusted = createTransport({ baseUrl, headers: { authorization: 'Bearer secret' }, inTheClear: 'credentials' })
    expect((await trusted({ method: 'GET', path: '/' })).status).toBe(200)
    await expect(trusted({ method: 'GET', path: '/', headers: { 'x-payment': 'y' } })).rejects.toMatchObject({
      failure: 'in_the_clear',
    })
    expect(heard).toBe(1)
  })
})

describe('kept connections', () => {
  /** Answers by the number of the connection that a request came on. */
  async function numbered(act: (at: number, request: number) => 'answer' | 'hang up' = () => 'answer') {
    const seen: Socket[] = []
    let requests = 0
    const send = await to(
      (request, response) => {
        requests += 1
        if (!seen.includes(request.socket)) seen.push(request.socket)
        const at = seen.indexOf(request.socket) + 1
        if (act(at, requests) === 'hang up') request.socket.resetAndDestroy()
        else response.end(String(at))
      },
      { connections: keepConnections() },
    )
    const ask = async (method: 'GET' | 'POST') => {
      const said = await (await send({ method, path: '/' })).text()
      // The connection is free once its answer was read to the end.
      await new Promise((resolve) => setImmediate(resolve))
      return said
    }
    return { ask, requests: () => requests }
  }

  it('are used again by reads, and never by what changes something', async () => {
    const { ask } = await numbered()
    expect([await ask('GET'), await ask('GET'), await ask('POST'), await ask('GET')]).toEqual(['1', '1', '2', '1'])
  })

  it('that were closed from there are no reason to fail', async () => {
    const { ask, requests } = await numbered((at, request) => (at === 1 && request > 1 ? 'hang up' : 'answer'))
    expect([await ask('GET'), await ask('GET')]).toEqual(['1', '2'])
    expect(requests()).toBe(3)
  })

  it('that are new and closed are: nothing is asked again and again', async () => {
    const { ask, requests } = await numbered(() => 'hang up')
    await expect(ask('GET')).rejects.toThrow('the connection was lost')
    expect(requests()).toBe(1)
  })
})

describe('a request that a 503 asks to repeat', () => {
  const sleeps: number[] = []
  const sleep = async (ms: number) => void sleeps.push(ms)
  const busy = (times: number, retryAfter: string) => {
    let asked = 0
    return to((_request, response) => {
      asked += 1
      response.writeHead(asked > times ? 200 : 503, asked > times ? {} : { 'Retry-After': retryAfter })
      response.end(String(asked))
    })
  }
  const keyed = { 'Idempotency-Key': 'one' }

  it.each([
    ['a read', { method: 'GET' as const }, '4'],
    ['a write with a key', { method: 'POST' as const, headers: keyed, body: '{}' }, '4'],
    ['a write without one', { method: 'POST' as const, body: '{}' }, '1'],
  ])('%s', async (_name, request, answered) => {
    const answer = await patient(await busy(3, '1'), sleep)({ path: '/', ...request })
    expect(await answer.text()).toBe(answered)
  })

  it('waits as long as it says, and not for long', async () => {
    sleeps.length = 0
    const request = { method: 'GET', path: '/' } as const
    await patient(await busy(2, '2'), sleep)(request)
    expect(sleeps).toEqual([2_000, 2_000])
    for (const later of ['3', 'Fri, 27 Nov 2026 21:00:00 GMT'])
      expect(await (await patient(await busy(2, later), sleep)(request)).text()).toBe('1')
    const answer = await patient(await busy(100, '1'), sleep)(request)
    expect([answer.status, await answer.text()]).toEqual([503, '11'])
  })
})
