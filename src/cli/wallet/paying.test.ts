import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requirement } from '../../../fixtures/payments/vectors.ts'
import { paymentRequired } from '../../api/endpoint/x402.ts'
import { addRemote } from '../../client/remotes.ts'
import { createBudget } from '../../client/spending/budget.ts'
import { createWallet } from '../../client/wallets.ts'
import { paymentWindows } from '../../core/limits.ts'
import { usdc } from '../../core/money.ts'
import type { RawCall, Session, SessionHost } from '../session.ts'
import { payFor, signPayment } from './paying.ts'

let config: string
beforeAll(async () => {
  config = await mkdtemp(join(tmpdir(), 'souk-paying-'))
})
afterAll(() => rm(config, { recursive: true }))

test('a wallet whose key everybody has signs nothing where money is real', async () => {
  const places = { config }
  const createdAt = new Date(0).toISOString()
  const wallet = await createWallet(places, { name: 'acme', createdAt, privateKey: '1'.repeat(64), wellKnown: true })
  expect(wallet).toMatchObject({ well_known: true })
  const url = 'https://souk.example'
  addRemote(places, { name: 'real', url, network: 'base' })
  const { body, header } = paymentRequired({
    ...requirement,
    resource: `${url}/v1/discover`,
    description: '',
    mimeType: 'application/json',
  })
  const limit = usdc(1_000_000n)
  const host = { places, budget: createBudget() } as unknown as SessionHost // all that signing asks before it refuses
  const session = { target: { name: 'real', url, network: 'base', instance: url } } as Session
  const first = { status: 402, headers: { 'payment-required': header }, body: JSON.parse(JSON.stringify(body)) }
  const call = { method: 'POST', path: '/v1/discover' } as const
  await expect(signPayment(host, session, { wallet, first, limit, call })).rejects.toThrow('is a public demo wallet')
})

test('the command line waits for what it buys as long as the daemon may work on it', async () => {
  const waits: (number | undefined)[] = []
  const answer = { status: 200, headers: {}, body: {} }
  const session = {
    send: async ({ timeoutMs }: RawCall) => {
      waits.push(timeoutMs)
      return answer
    },
  } as unknown as Session // all that an answer without a price asks for
  const call = { method: 'POST', path: '/v1/services/svc_0123456789abcdef/purchase', idempotencyKey: 'k' } as const
  for (const timeoutMs of [undefined, 5_000]) {
    const globals = { timeoutMs, maxPrice: usdc(1n) }
    const host = { budget: createBudget(), globals } as unknown as SessionHost // all that a payment without a price asks for
    await payFor(host, session, call)
  }
  const [usual = 0, named] = waits
  expect(usual).toBeGreaterThan(paymentWindows.last.maxTimeoutSeconds * 1_000)
  expect(named).toBe(5_000)
})
