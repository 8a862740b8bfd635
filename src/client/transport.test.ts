import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createTransport, shownHeaders, type TransportOptions } from './transport.ts'

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
    const send = await to((_request, response) => {
      response.write('one')
      setTimeout(() => response.end('two'), 20)
    })
    const parts: string[] = []
    for await (const part of (await send({ method: 'GET', path: '/' })).chunks())
      parts.push(Buffer.from(part).toString())
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

  it('tells a body that breaks off', async () => {
    const send = await to((_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half', () => response.socket?.destroy())
    })
    const answer = await send({ method: 'GET', path: '/' })
    await expect(answer.text()).rejects.toMatchObject({ failure: 'broken' })
  })

  it('shows requests in debug without their secrets', async () => {
    const lines: string[] = []
    const send = await to((_request, response) => response.end(), { debug: (line) => lines.push(line) })
    const secrets = {
      Authorization: 'Bearer adm_1',
      'X-API-Key': 'sk_1',
      'X-BALANCE-AUTH': 'sk_2',
      'X-PAYMENT': 'sig_1',
      'PAYMENT-SIGNATURE': 'sig_2',
    }
    await send({ method: 'GET', path: '/v1/x', headers: { ...secrets, Accept: 'text/plain' } })
    const text = lines.join('\n')
    expect(text).toContain('> GET /base/v1/x')
    expect(text).toContain('< 200')
    expect(text).toContain('accept=text/plain')
    for (const secret of Object.values(secrets)) expect(text).not.toContain(secret.replace('Bearer ', ''))
    expect(shownHeaders({ 'set-cookie': 'a=b' })).not.toContain('a=b')
  })
})
