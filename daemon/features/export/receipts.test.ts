import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import type { Ask } from '../../../fixtures/scenarios/scenario.ts'
import { openStage, type Stage } from '../../../fixtures/scenarios/stage.ts'
import { type Step, take } from '../../../fixtures/scenarios/steps.ts'

const TAX = { name: 'Ada <b>& Sons</b>', address: '1 Mill Lane, Oxford', tax_id: 'GB 123' }

let market: Marketplace
let stage: Stage
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

async function opened(...steps: Step[]): Promise<void> {
  stage = openStage(market)
  await take(stage, ['the provider', ...steps])
}

const receiptFor = (as: Ask['as'], headers: Record<string, string> = {}) =>
  stage.ask('getReceipt', { as, params: { id: '$receipt' }, headers })

test.each<[string, Step[], unknown]>([
  ['in escrow', ['a job'], { fee: '0.025', net: '0.50', refunded: '0.00' }],
  ['released', ['a job', 'it is delivered', 'it is released'], { fee: '0.025', net: '0.50', refunded: '0.00' }],
  ['failed', ['a job', 'it has failed'], { fee: '0.00', net: '0.00', refunded: '0.525' }],
])('a job that is %s: both sides and the operator read the same receipt', async (_, steps, sums) => {
  await opened(...steps)
  const { body } = await receiptFor('buyer')
  const reference = { kind: 'job', id: stage.get('job') }
  expect(body).toMatchObject({ id: stage.get('receipt'), amount: '0.525', description: 'Word count', reference })
  expect(body).toMatchObject(sums as object)
  expect(body.seller).toMatchObject({ participant_id: stage.get('provider'), tax: null })
  for (const one of ['provider', 'admin'] as const) expect((await receiptFor(one)).body).toEqual(body)
  for (const one of ['other', 'rival'] as const) expect((await receiptFor(one)).status).toBe(404)
  expect((await receiptFor('anonymous')).status).toBe(401)
})

test('a call is paid to the marketplace, whole', async () => {
  await opened('the buyer', 'a listing')
  await stage.must('discover', { as: 'buyer', pay: 'x402', body: { query: 'words' } })
  const { text } = await stage.must('getExport', { as: 'buyer', query: { only: 'payment' } })
  stage.set('receipt', /rcp_[0-9a-f]{16}/.exec(text)?.[0] ?? '')
  const { body } = await receiptFor('buyer')
  expect(body).toMatchObject({ description: 'discover', reference: null, fee: '0.00', net: body.amount })
  expect(body.seller).toEqual({ participant_id: null, name: null, wallet: null, tax: null })
})

test('the seller’s tax details stand on its receipts and its statement, and nowhere else', async () => {
  await opened('a job')
  const own = { as: 'provider', params: { id: '$provider' } } as const
  const { text: changed } = await stage.must('updateParticipant', { ...own, body: { tax: TAX } })
  expect((await receiptFor('buyer')).body.seller.tax).toEqual(TAX)
  const { text: exported } = await stage.must('getExport', { as: 'provider' })
  const [first = '', ...rest] = exported.split('\n')
  expect(JSON.parse(first).record.tax).toEqual(TAX)
  const { text: profile } = await stage.must('getParticipant', own)
  for (const text of [changed, profile, rest.join('\n')]) expect(text).not.toContain(TAX.tax_id)
  await stage.must('updateParticipant', { ...own, body: { tax: null } })
  expect((await receiptFor('buyer')).body.seller.tax).toBe(null)
})

test('the page is escaped, runs nothing and loads nothing', async () => {
  await opened('a job')
  const body = { tax: TAX, name: '<script>alert(1)</script>' }
  await stage.must('updateParticipant', { as: 'provider', params: { id: '$provider' }, body })
  const { text, headers } = await receiptFor('buyer', { Accept: 'text/html' })
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';/)
  expect(text).toContain('Ada &lt;b&gt;&amp; Sons&lt;/b&gt;')
  expect(text).not.toMatch(/<script|<b>|https?:/)
})
