import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readQr } from '../../fixtures/kit/qr.ts'
import { type Answer, type Marketplace, openMarketplace, signPayment } from '../../fixtures/market/marketplace.ts'
import { formatAmount } from '../../src/core/money.ts'
import { jobs } from '../features/jobs/rows.ts'
import { account } from '../features/ledger/legs.ts'
import { accounts, ledger } from '../features/ledger/rows.ts'
import { payments } from '../features/payments/rows.ts'

let market: Marketplace
let path: string
/** What the QR code costs, from the 402; the wallets of these tests hold a dollar or exactly this. */
let price: bigint

beforeAll(async () => {
  market = await openMarketplace()
  path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
  price = BigInt((await market.call('POST', path)).body.accepts[0].maxAmountRequired)
})
afterAll(() => market.close())

function textOf(deliverable: { qr_code: { content: string } }): string | undefined {
  return readQr(Buffer.from(deliverable.qr_code.content, 'base64'))
}

const balance = async (name: string) => (await market.daemon.ctx.store.table(accounts).get(name))?.balance ?? 0n

describe.each([1, 2] as const)('the published client buys the QR code over x402 v%i', (version) => {
  test('and gets a picture of its text, a job it can read, and postings that sum to zero', async () => {
    const buyer = await market.buyer('1.00')
    const before = { ext: await balance(account.ext), fees: await balance(account.fees) }
    const response = await buyer.fetch(version)(`${market.url()}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `k${version}` },
      body: JSON.stringify({ data: 'grüß dich, souk' }),
    })
    const body = (await response.json()) as Answer['body']
    expect([response.status, body.status, body.amount]).toEqual([200, 'completed', formatAmount(price)])
    expect(textOf(body.result)).toBe('grüß dich, souk')
    expect(response.headers.get(version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE')).toBeTruthy()
    expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(1_000_000n - price)
    expect((await balance(account.ext)) - before.ext).toBe(-price)
    expect((await balance(account.fees)) - before.fees).toBe(price / 20n)

    const job = await market.call('GET', `/v1/jobs/${body.job_id}`, {
      headers: { Authorization: `Bearer ${body.access_token}` },
    })
    expect([job.status, job.body.status, job.body.buyer.wallet]).toEqual([200, 'completed', buyer.account.address])
  })
})

test('every transaction of the books sums to zero, and the accounts are their sums', async () => {
  const { rows } = await market.daemon.ctx.store.table(ledger).page('at', [], { limit: 1000 })
  const sums = new Map<string, bigint>()
  for (const row of rows) {
    expect(row.lines.reduce((sum, line) => sum + line.delta, 0n)).toBe(0n)
    for (const line of row.lines) sums.set(line.account, (sums.get(line.account) ?? 0n) + line.delta)
  }
  for (const [name, sum] of sums) expect([name, await balance(name)]).toEqual([name, sum])
})

test('64 copies of one payment at once: one charge, one job, 64 equal bodies', async () => {
  const buyer = await market.buyer('1.00')
  const body = { data: 'one of many' }
  const offer = await market.call('POST', path, { body })
  const headers = { ...(await signPayment(buyer.account, offer)), 'Idempotency-Key': 'copies' }
  const answers = await Promise.all(Array.from({ length: 64 }, () => market.call('POST', path, { body, headers })))
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
  expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
  expect(answers.filter((answer) => answer.headers.get('Idempotency-Replayed') !== 'true')).toHaveLength(1)
  expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(1_000_000n - price)
  const mine = await market.daemon.ctx.store.table(jobs).page('buyer', [buyer.wallet], { limit: 10 })
  expect(mine.rows).toHaveLength(1)
})

test('64 different buyers at once: 64 purchases, none refused', async () => {
  const buyers = await Promise.all(Array.from({ length: 64 }, () => market.buyer(formatAmount(price))))
  const body = { data: 'a crowd' }
  const offer = await market.call('POST', path, { body })
  const answers = await Promise.all(
    buyers.map(async ({ account: payer }) =>
      market.call('POST', path, { body, headers: await signPayment(payer, offer) }),
    ),
  )
  expect(answers.map((answer) => answer.status)).toEqual(buyers.map(() => 200))
  expect(new Set(answers.map((answer) => answer.body.job_id)).size).toBe(64)
})

test('one wallet cannot spend the same money twice at once', async () => {
  const buyer = await market.buyer(formatAmount(price))
  const body = { data: 'twice' }
  const offer = await market.call('POST', path, { body })
  const answers = await Promise.all(
    [1, 2, 3, 4].map(async () => market.call('POST', path, { body, headers: await signPayment(buyer.account, offer) })),
  )
  expect(answers.map((answer) => answer.status).sort()).toEqual([200, 402, 402, 402])
  expect(answers.find((answer) => answer.status === 402)?.body.error).toBe('insufficient_funds')
  const open = await market.daemon.ctx.store.table(payments).count('open', [])
  expect(open).toBe(0)
})

test('a bad input costs nothing and frees the authorization', async () => {
  const buyer = await market.buyer(formatAmount(price))
  const offer = await market.call('POST', path, { body: { data: 'x' } })
  const headers = await signPayment(buyer.account, offer)
  const refused = await market.call('POST', path, { body: { data: 'x', size: 5 }, headers })
  expect([refused.status, refused.body.code, refused.body.details[0].path]).toEqual([400, 'input_invalid', 'size'])
  expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(price)
  const paid = await market.call('POST', path, { body: { data: 'x' }, headers })
  expect(paid.status).toBe(200)
})

test('the same payment on another body, query or path is a 409 and charges nothing more', async () => {
  const buyer = await market.buyer('1.00')
  const body = { data: 'mine' }
  const offer = await market.call('POST', path, { body })
  const headers = await signPayment(buyer.account, offer)
  expect((await market.call('POST', path, { body, headers })).status).toBe(200)
  const others = [
    market.call('POST', path, { body: { data: 'yours' }, headers }),
    market.call('POST', `${path}?a=1`, { body, headers }),
    market.call('GET', '/v1/jobs/job_0123456789abcdef', { headers }),
  ]
  const answers = await Promise.all(others)
  expect(answers.map((answer) => [answer.status, answer.body.code])).toEqual(
    answers.map(() => [409, 'idempotency_mismatch']),
  )
  expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(1_000_000n - price)
})
