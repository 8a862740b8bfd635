import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { PAID_ANSWER_MS } from '../../src/client/exchange.ts'
import { createClient } from './client.ts'

/* How long a client waits for what it buys: as long as the daemon may work on it, by a clock that the test moves. */

const asked = { params: { id: 'svc_0123456789abcdef' }, body: { text: 'a' } } as const
const apiKey = `sk_${'0'.repeat(40)}`
const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const refusal = JSON.stringify({ error: 'It is not for sale.', code: 'conflict', message: 'It is not for sale.' })

let waiting: ((answer: ServerResponse) => void)[] = []
const server = createServer((_request, answer) => waiting.shift()?.(answer))
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => server.close())
afterEach(() => vi.useRealTimers())

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const arrived = () => new Promise<ServerResponse>((resolve) => waiting.push(resolve))

/** What a call that is answered after a time comes to. */
async function answeredAfter(ms: number, timeoutMs?: number): Promise<string> {
  waiting = []
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const buyer = await createClient({ url: url(), apiKey, ...(timeoutMs === undefined ? {} : { timeoutMs }) })
  const request = arrived()
  const told = buyer.call('purchaseService', asked).then(String, (error: Error) => error.message)
  const answer = await request
  await vi.advanceTimersByTimeAsync(ms)
  answer.writeHead(409, { 'content-type': 'application/json' }).end(refusal)
  return told
}

test('a purchase waits as long as the work on it may take, and no longer', async () => {
  expect(await answeredAfter(2 * MINUTE_MS)).toBe('It is not for sale.')
  expect(await answeredAfter(PAID_ANSWER_MS)).not.toBe('It is not for sale.')
})

test('a client that names a time keeps to it', async () => {
  expect(await answeredAfter(2 * SECOND_MS, SECOND_MS)).not.toBe('It is not for sale.')
})
