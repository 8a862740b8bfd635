import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readSpending } from '../../src/client/spending/ledger.ts'
import { keepPolicy } from '../../src/client/spending/policy.ts'
import { formatAmount } from '../../src/core/money.ts'
import { createClient, SoukError, TransportError } from './client.ts'
import { createDesk, type WebhookEvent, webhookExpress, webhookFetch } from './provider.ts'
import { type Market, type Persona, type Snapshot, startMarket } from './testing.ts'

// @slow whole markets are opened and moved in time

/* What the package offers as a library: a market within a test, a client that pays, and a provider's side. */

let market: Market
let buyer: Persona
let seller: Persona
let service: string
let begin: Snapshot
const events: WebhookEvent[] = []
const hook = createServer()

beforeAll(async () => {
  hook.listen(0, '127.0.0.1')
  await once(hook, 'listening')
  market = await startMarket()
  buyer = await market.persona('Buyer', { funds: '10.00' })
  const webhookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`
  seller = await market.persona('Seller', { webhookUrl })
  hook.on('request', webhookExpress({ secrets: seller.webhookSecret, onEvent: (event) => void events.push(event) }))
  const body = {
    name: 'Echo',
    description: 'Says what was said.',
    price: '0.50',
    fulfillment_type: 'automated',
    estimated_delivery: '1 hour',
    category: 'text',
  } as const
  service = (await seller.call('createService', { body })).id
  begin = await market.snapshot()
})
afterEach(() => market.restore(begin))
afterAll(async () => {
  await market.close()
  hook.close()
})

const echo = { text: 'hello' }
const buy = (who = buyer, options = {}) => who.pay('purchaseService', { params: { id: service }, body: echo }, options)
const audit = () => market.admin.call('getAudit', {})
const balanceOf = ({ address }: Persona) => market.balanceOf(address)

describe('a market within a test', () => {
  it('sells, tells the provider, takes its delivery once, and its books agree', async () => {
    const { answer, paid } = await buy()
    expect(paid).toEqual({ price: '0.525', from: 'x402', transaction: expect.stringMatching(/^0x/) })
    await expect
      .poll(() => events.map(({ type, job_id }) => [type, job_id]))
      .toContainEqual(['job_dispatch', answer.job_id])
    const desk = createDesk(seller)
    await desk.start(answer.job_id, 0.5)
    market.faults.next({ path: '/v1/', method: 'PUT', what: 'lose' })
    market.faults.next({ path: '/v1/', method: 'POST', what: 'lose' })
    await desk.deliver(answer.job_id, { text: 'hello' })
    await desk.deliver(answer.job_id, { text: 'hello' })
    await expect(desk.deliver(answer.job_id, { text: 'something else' })).rejects.toBeInstanceOf(SoukError)
    market.faults.clear()
    expect((await buyer.call('getJob', { params: { id: answer.job_id } })).status).toBe('verified')
    expect((await audit()).ok).toBe(true)
  })

  it('forgets at a restore what came after the snapshot, as often as one likes', async () => {
    const before = await market.clock.now()
    for (const _ of [1, 2]) {
      await buy()
      await market.clock.advance('30d')
      await market.restore(begin)
      expect((await buyer.call('listJobs', { query: {} })).total).toBe(0)
    }
    expect((await market.clock.now()).getTime() - before.getTime()).toBeLessThan(86_400_000)
  })

  it('lets what falls due happen when the clock is moved', async () => {
    const { answer } = await buy()
    await market.clock.advance('40d')
    expect((await buyer.call('getJob', { params: { id: answer.job_id } })).status).toBe('expired')
  })

  it('keeps what happened over a restart, at the same address', async () => {
    const { answer } = await buy()
    await market.restart()
    expect((await buyer.call('getJob', { params: { id: answer.job_id } })).job_id).toBe(answer.job_id)
  })

  it('says what a duration is', async () => {
    await expect(market.clock.advance('soon')).rejects.toThrow('is no duration')
  })

  it('leaves nothing behind', async () => {
    const before = (await readdir(tmpdir())).filter((name) => name.startsWith('souk-testing-'))
    const other = await startMarket({ seed: 'none' })
    await other.close()
    await expect(
      createClient({ url: other.url }).then((client) => client.call('getHealth', {})),
    ).rejects.toBeInstanceOf(TransportError)
    const now = (await readdir(tmpdir())).filter((name) => name.startsWith('souk-testing-'))
    expect(now.filter((name) => !before.includes(name))).toEqual([])
  })
})

describe('a client that pays', () => {
  it('asks what it costs, and signs nothing for that', async () => {
    expect(await buyer.quote('purchaseService', { params: { id: service }, body: echo })).toMatchObject({
      price: '0.525',
    })
    expect(await buyer.quote('getHealth', {})).toBeUndefined()
  })

  it.each(['lose', 'refuse', 503] as const)('pays once when an answer is %s', async (what) => {
    const had = Number(await balanceOf(buyer))
    market.faults.next({ path: '/v1/services', paid: true, what })
    if (what === 503) await expect(buy()).rejects.toMatchObject({ code: 'unavailable' })
    else expect((await buy()).paid?.price).toBe('0.525')
    expect(Number(await balanceOf(buyer))).toBe(what === 503 ? had : had - 0.525)
    expect((await audit()).ok).toBe(true)
  })

  it.each([
    ['above the limit of the call', { maxPrice: '0.49' }, {}],
    ['above the limit of the policy', {}, { perPayment: '0.49' }],
    ['above what is left of the total', {}, { total: '0.49' }],
    ['with another token than allowed', {}, { assets: [`0x${'1'.repeat(40)}`] }],
    ['on another network than allowed', {}, { network: 'base-sepolia' as const }],
    ['when it was not approved', {}, { approve: () => false }],
  ])('signs nothing %s', async (_what, options, policy) => {
    const had = await balanceOf(buyer)
    const spend = { perPayment: '1.00', ...policy }
    const client = await createClient({ url: market.url, wallet: buyer.privateKey, spend })
    const asked = { params: { id: service }, body: echo }
    const refused = await client.pay('purchaseService', asked, options).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(SoukError)
    expect(refused).toMatchObject({ code: 'payment_required' })
    expect([client.spent(), await balanceOf(buyer)]).toEqual(['0.00', had])
  })

  it('never passes its total, however many pay at once', async () => {
    const spend = { perPayment: '0.60', total: '1.20' }
    const client = await createClient({ url: market.url, wallet: buyer.privateKey, spend })
    const all = await Promise.allSettled(
      Array.from({ length: 6 }, () => client.pay('purchaseService', { params: { id: service }, body: echo })),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect(client.spent()).toBe('1.05')
  })

  it('obeys the policy that its wallet has on this machine, over all clients of it, and counts there', async () => {
    const configDir = await mkdtemp(join(tmpdir(), 'souk-library-'))
    const asked = { params: { id: service }, body: echo }
    const open = () =>
      createClient({
        url: market.url,
        wallet: buyer.privateKey,
        apiKey: buyer.apiKey,
        spend: { perPayment: '5.00' },
        configDir,
      })
    const at = { config: configDir }
    const refusal = (rule: string) => ({ code: 'payment_required', extra: { rule } })
    await (await open()).pay('deposit', { body: { amount: '2.00' } })
    keepPolicy(at, buyer.address, { per_day: '1.20', allow: [], deny: [] })
    const both = [await open(), await open()]
    const from = ['x402', 'balance'] as const
    const all = await Promise.allSettled(
      [0, 1, 0, 1].map((i) => both[i]?.pay('purchaseService', asked, { from: from[i] ?? 'x402' })),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    await expect((await open()).pay('purchaseService', asked)).rejects.toMatchObject(refusal('per_day'))
    keepPolicy(at, buyer.address, { allow: [], deny: [`${seller.id}@${market.url}`] })
    await expect((await open()).pay('purchaseService', asked)).rejects.toMatchObject(refusal('deny'))
    const { day } = readSpending(at, { wallet: buyer.address.toLowerCase(), now: Date.now() }, 10)
    expect([day.count, formatAmount(day.amount)]).toEqual([2, '1.05'])
    expect((await audit()).ok).toBe(true)
    await rm(configDir, { recursive: true })
  })

  it('shows for approval the very offer that it signs, of several', async () => {
    const seen: unknown[] = []
    const decoy = `0x${'1'.repeat(40)}`
    const server = createServer(async (request, response) => {
      const answer = await fetch(`${market.url}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { 'content-type': 'application/json' },
        ...(request.method === 'POST' ? { body: JSON.stringify(echo) } : {}),
      })
      const body = (await answer.json()) as { accepts?: object[] }
      // An offer before the real one that cannot be signed, cheaper and to somebody else.
      if (Array.isArray(body.accepts)) {
        const [first = {}] = body.accepts
        body.accepts = [{ ...first, asset: decoy, payTo: decoy, maxAmountRequired: '1' }, first]
      }
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const approve = (asked: unknown) => {
      seen.push(asked)
      return false
    }
    const client = await createClient({ url, wallet: buyer.privateKey, spend: { perPayment: '1.00', approve } })
    await expect(client.pay('purchaseService', { params: { id: service }, body: echo })).rejects.toThrow('approved')
    expect(seen).toEqual([expect.objectContaining({ price: '0.525' })])
    expect(seen).not.toEqual([expect.objectContaining({ payTo: decoy })])
    server.close()
  })

  it('pays from the balance, and counts what was refused as not spent', async () => {
    const spend = { perPayment: '5.00' }
    const client = await createClient({ url: market.url, wallet: buyer.privateKey, apiKey: buyer.apiKey, spend })
    const asked = { params: { id: service }, body: echo }
    await expect(client.pay('purchaseService', asked, { from: 'balance' })).rejects.toMatchObject({
      code: 'insufficient_balance',
    })
    expect(client.spent()).toBe('0.00')
    await client.pay('deposit', { body: { amount: '2.00' } })
    expect((await client.pay('purchaseService', asked, { from: 'balance' })).paid).toMatchObject({ from: 'balance' })
  })
})

describe('a handler of messages', () => {
  const message = async (options: { readonly onEvent: (event: WebhookEvent) => void; readonly parsed?: boolean }) => {
    const { signedHeaders } = await import('../../src/core/webhook-signature.ts')
    const body = JSON.stringify({ type: 'job_dispatch', event_id: 'evt_1', created_at: '2026-01-01' })
    const headers = signedHeaders({ id: 'whd_1', body, secrets: ['whsec_c2VjcmV0'], wall: Date.now() })
    const handle = webhookFetch({ secrets: 'whsec_c2VjcmV0', onEvent: options.onEvent })
    const send = (text = body) => handle(new Request('http://provider/', { method: 'POST', headers, body: text }))
    return { send, body }
  }

  it('gets each message once, and again only when it failed', async () => {
    let calls = 0
    const { send } = await message({
      onEvent: () => {
        calls += 1
        if (calls === 1) throw new Error('not yet')
      },
    })
    const statuses = [await send(), await send(), await send()].map(({ status }) => status)
    expect([statuses, calls]).toEqual([[500, 204, 204], 2])
  })

  it('refuses what was not sent by the marketplace, and says which header is wrong', async () => {
    const { send, body } = await message({ onEvent: () => expect.unreachable() })
    const refused = await send(body.replace('evt_1', 'evt_2'))
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { error: expect.stringContaining('webhook-signature') },
    ])
    expect((await send('x'.repeat(9 * 1024 * 1024))).status).toBe(413)
  })
})
