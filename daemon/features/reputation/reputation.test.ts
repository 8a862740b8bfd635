import { toBytes, keccak256 as viemKeccak } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { openPlans } from '../../../fixtures/market/plans.ts'
import { countReputation, linkIdentity, ratedJob, report, walletOf } from '../../../fixtures/market/reputation-run.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { uncountedJobs } from '../jobs/rows.ts'
import { publications } from './rows.ts'

// @story one provider from its first day on

let market: Escrow
let buyer: Person
let human: string
let instant: string
let rated: string

const get = (path: string) => market.market.call('GET', path)
const listing = async (id: string) => (await get(`/v1/services/${id}`)).body
const verdict = async (person: Person) => (await get(`/v1/reputation/${walletOf(person)}`)).body

beforeAll(async () => {
  market = await openEscrow({ ticker: noTicks })
  market.hook.answer = () => ({ body: '{"words":3}' })
  buyer = await market.agent()
  human = await market.list('human', { name: 'By hand' })
  instant = await market.list('instant', { name: 'At once', form: 'older', estimated_delivery: 'instant' })
})
afterAll(() => market.close())

// What was done before is what the next test finds.
describe('one provider from its first day on', () => {
  test('a new provider has 75 everywhere and is unknown', async () => {
    const shown = await listing(human)
    expect(shown.provider_reputation).toMatchObject({
      score: 75,
      is_new: true,
      completion_rate: null,
      by_service_type: {},
    })
    expect(shown.provider_trust).toMatchObject({
      verdict: 'unknown',
      // Nobody has reached its endpoint yet.
      level: 0,
      level_name: 'indexed',
      score: null,
      issued_at: null,
      expires_at: null,
      subject_id: market.provider.id,
      subject_count: 2,
      trust_url: `${market.market.url()}/v1/reputation/${market.provider.account.address}`,
    })
  })

  test('a synthetic job that the endpoint takes earns a level', async () => {
    expect((await market.provider.call('POST', `/v1/services/${human}/test`)).body.delivered).toBe(true)
    expect(await verdict(market.provider)).toMatchObject({
      sandbox_verified: true,
      level: 2,
      level_name: 'sandbox_verified',
    })
  })

  test('jobs are counted by the cron, once, for provider, service and type', async () => {
    await linkIdentity(market.ctx(), market.provider)
    rated = await ratedJob(market, { service: human, who: buyer, rating: 5 })
    await market.buy(instant, buyer)
    expect((await listing(human)).provider_reputation.total_jobs).toBe(0)
    for (let run = 0; run < 3; run += 1) await countReputation(market.ctx())
    const shown = await listing(human)
    // 0.4 × 100 + 0.3 × 100 + 0.2 × 100 + 0.1 × 100, and 90 for the unrated one
    expect(shown.provider_reputation).toMatchObject({
      score: 80.71,
      confidence: 0.1667,
      is_new: true,
      total_jobs: 2,
      successful_jobs: 2,
      completion_rate: 1,
      by_service_type: {
        human_service: { score: 79.17, confidence: 0.0909, total_jobs: 1 },
        data_api: { score: 77.5, confidence: 0.0909, total_jobs: 1 },
      },
    })
    expect(shown.service_reputation).toMatchObject({ score: 79.17, total_jobs: 1 })
    expect(shown.service_type_reputation).toMatchObject({ score: 79.17, total_jobs: 1 })
    expect(await listing(instant)).toMatchObject({
      provider_reputation: 80.71,
      provider_confidence: 0.1667,
      provider_is_new: true,
      provider_dimensions: { quality: 78.57, speed: 82.14, reliability: 82.14, communication: 82.14 },
      provider_completed_jobs: 2,
      provider_completion_rate: 1,
    })
  })

  test('the catalog sorts and filters by the score of the provider', async () => {
    const found = async (query: string) =>
      (await get(`/v1/services/catalog?${query}&limit=100`)).body.services.map((one: { id: string }) => one.id)
    const best = await found('sort=reputation')
    expect(best.slice(0, 2).sort()).toEqual([human, instant].sort())
    expect(best.length).toBeGreaterThan(2)
    expect((await found('min_reputation=80.71')).sort()).toEqual([human, instant].sort())
    expect(await found('min_reputation=80.72')).toEqual([])
    expect((await found('min_reputation=75')).length).toBe(best.length)
  })

  test('a verdict holds for a day and is given anew when it has expired', async () => {
    const first = await verdict(market.provider)
    expect(first).toMatchObject({ wallet: market.provider.account.address, verdict: 'unknown', level: 3, is_new: true })
    const valid = (one: { issued_at: string; expires_at: string }) =>
      Date.parse(one.expires_at) - Date.parse(one.issued_at)
    expect(valid(first)).toBe(DAY_MS)
    market.pass(3 * DAY_MS)
    const later = await verdict(market.provider)
    expect(Date.parse(later.issued_at) - Date.parse(first.issued_at)).toBe(3 * DAY_MS)
    expect(Date.parse(later.expires_at)).toBeGreaterThan(market.ctx().clock.now())
  })

  test('the feedback file of a job is what the chain was told', async () => {
    const answer = await get(`/v1/reputation/feedback/${rated}.json`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toContain('immutable')
    const { identityRegistry, reputationRegistry } = market.ctx().chain
    expect(answer.body).toMatchObject({
      agentRegistry: identityRegistry.name,
      agentId: 0,
      tag1: 'starred',
      tag2: 'human_service',
      value: 1000,
      valueDecimals: 1,
      also: [{ tag1: 'successRate', tag2: 'human_service', value: 100, valueDecimals: 0 }],
    })
    expect(answer.body.clientAddress.toLowerCase()).toBe(`eip155:8453:${reputationRegistry.client}`)
    const hash = viemKeccak(toBytes(answer.text))
    expect(answer.headers.get('etag')).toBe(`"${hash}"`)
    const given = await market.ctx().store.table(publications).get(`feedback:${rated}:starred`)
    expect(given).toMatchObject({
      status: 'confirmed',
      call: { hash, uri: `${market.market.url()}/v1/reputation/feedback/${rated}.json` },
    })
    const again = await market.market.call('GET', `/v1/reputation/feedback/${rated}.json`, {
      headers: { 'If-None-Match': `"${hash}"` },
    })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  test('nobody else has a feedback file', async () => {
    const job = 'job_0123456789abcdef'
    expect((await get(`/v1/reputation/feedback/${job}.json`)).status).toBe(404)
    expect((await get(`/v1/reputation/evidence/0x${'0'.repeat(64)}.json`)).status).toBe(404)
  })

  describe('what the chain says', () => {
    const path = () => `/v1/reputation/${walletOf(market.provider)}/onchain`

    test('costs 0.005 and shows both tags and the anchors', async () => {
      const offer = await market.market.call('GET', path())
      expect(offer.status).toBe(402)
      expect(offer.body.accepts[0].maxAmountRequired).toBe('5000')
      const { body } = await paid(path())
      expect(body.summaries).toEqual([
        { tag1: 'starred', tag2: '', count: 2, value: 950, value_decimals: 1 },
        { tag1: 'starred', tag2: 'data_api', count: 1, value: 900, value_decimals: 1 },
        { tag1: 'starred', tag2: 'human_service', count: 1, value: 1000, value_decimals: 1 },
        { tag1: 'successRate', tag2: '', count: 2, value: 100, value_decimals: 0 },
        { tag1: 'successRate', tag2: 'data_api', count: 1, value: 100, value_decimals: 0 },
        { tag1: 'successRate', tag2: 'human_service', count: 1, value: 100, value_decimals: 0 },
      ])
      expect(body).toMatchObject({ agent_id: '0', wallet: market.provider.account.address })
      const [anchor] = body.anchors
      expect(anchor).toMatchObject({ seq: 1, subject: viemKeccak(toBytes(market.provider.id)) })
      const evidence = await get(new URL(anchor.uri).pathname)
      expect(viemKeccak(toBytes(evidence.text))).toBe(anchor.root)
      expect(evidence.body).toMatchObject({ subject_id: market.provider.id, score: 80.71, previous: null })
    })

    test('of a wallet that is nobody is not sold', async () => {
      const nobody = `0x${'ab'.repeat(20)}`
      const before = await market.onChain(buyer)
      expect((await paid(`/v1/reputation/${nobody}/onchain`)).status).toBe(404)
      expect((await paid('/v1/reputation/0x12/onchain')).status).toBe(400)
      expect(await market.onChain(buyer)).toBe(before)
    })
  })

  describe('verdicts', () => {
    test('of wallets that are nobody are unknown', async () => {
      const { status, body } = await get(`/v1/reputation/0x${'ab'.repeat(20)}`)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        verdict: 'unknown',
        subject_id: null,
        subject_count: 0,
        trust_url: null,
        score: null,
      })
      expect((await get('/v1/reputation/0x12')).body.message).toContain('wallet')
    })

    test('come in batches of 20, in the requested order', async () => {
      const strangers = Array.from({ length: 19 }, (_, i) => `0x${String(i + 10).repeat(20)}`)
      const ask = (wallets: unknown) => market.market.call('POST', '/v1/reputation/batch', { body: { wallets } })
      const { status, body } = await ask([...strangers, market.provider.account.address])
      expect(status).toBe(200)
      expect(body.verdicts).toHaveLength(20)
      expect(body.verdicts[19]).toEqual(await verdict(market.provider))
      expect(body.verdicts.map((one: { wallet: string }) => one.wallet.toLowerCase())).toEqual([
        ...strangers,
        walletOf(market.provider),
      ])
      expect((await ask([...strangers, ...strangers])).status).toBe(400)
      expect((await ask([])).status).toBe(400)
      expect((await ask(['0x12'])).body.message).toContain('wallets.0')
    })

    test('that are bad are withheld until negative labels are on', async () => {
      for (let i = 0; i < 10; i += 1) {
        const { body } = await market.buy(human, buyer)
        await report(market, body.job_id, { status: 'failed', notes: 'no' })
      }
      await countReputation(market.ctx())
      expect((await listing(human)).provider_reputation).toMatchObject({
        score: 39.12,
        total_jobs: 12,
        failed_jobs: 10,
      })
      expect(await verdict(market.provider)).toMatchObject({ verdict: 'withheld', score: null, risk_flags: [] })
      const setting = { body: { features: { 'trust.negative_labels': true } } }
      expect((await market.market.admin('PUT', '/dashboard/api/admin/features', setting)).status).toBe(200)
      expect(await verdict(market.provider)).toMatchObject({
        verdict: 'failed',
        score: 0,
        risk_flags: ['often_failed'],
      })
      expect((await listing(human)).provider_trust).toMatchObject({ verdict: 'failed' })
    })
  })

  async function paid(path: string) {
    const { signPayment } = await import('../../../fixtures/market/marketplace.ts')
    const offer = await market.market.call('GET', path)
    if (offer.status !== 402) return offer
    return market.market.call('GET', path, { headers: await signPayment(buyer.account, offer) })
  }

  test('a job inside a subscription counts for nobody', async () => {
    const plans = await openPlans()
    try {
      const service = await plans.list('human')
      const who = await plans.agent()
      await plans.subscribed(await plans.plan([service]), who)
      const bought = await who.call('POST', `/v1/services/${service}/purchase`, { text: 'one' })
      expect(bought.body).toMatchObject({ status: 'dispatched', amount: '0.00' })
      const update = { status: 'completed', deliverables: { words: 3 } }
      const path = `/v1/jobs/${bought.body.job_id}`
      expect((await plans.provider.call('POST', `${path}/update`, update)).status).toBe(200)
      expect((await who.pay(`${path}/verify`, { body: { rating: 5 } })).body.status).toBe('released')
      await countReputation(plans.ctx())
      expect(await plans.ctx().store.table(uncountedJobs).count('due', [])).toBe(0)
      const shown = (await plans.market.call('GET', `/v1/services/${service}`)).body
      expect(shown.provider_reputation).toMatchObject({ score: 75, total_jobs: 0 })
      expect(shown.service_reputation).toMatchObject({ score: 75, total_jobs: 0 })
    } finally {
      await plans.close()
    }
  })
})
