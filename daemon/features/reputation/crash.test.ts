import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crashAtEachStep, sides } from '../../../fixtures/kit/crash.ts'
import { chainWith } from '../../../fixtures/kit/faults.ts'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace, signPayment } from '../../../fixtures/market/marketplace.ts'
import { registered } from '../../../fixtures/market/people.ts'
import { countReputation, endedJobs, linkIdentity } from '../../../fixtures/market/reputation-run.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import { timeline } from '../../crons/timeline.ts'
import { uncountedJobs } from '../jobs/rows.ts'
import { subjectHash } from './evidence.ts'
import { reputation } from './reputation.ts'
import { documents, evidence, identityLinks, publications, standings } from './rows.ts'
import { ofProvider } from './standings.ts'

// @slow a crash at every step

let market: Marketplace
/** Calls that the chain takes before it is silent. */
let taken = Number.POSITIVE_INFINITY

beforeAll(async () => {
  const silent = { ok: false, failure: 'unavailable' } as const
  const chain = chainWith(({ reputationRegistry, verdictAnchors }) => ({
    reputationRegistry: {
      ...reputationRegistry,
      giveFeedback: async (order) => (taken-- > 0 ? reputationRegistry.giveFeedback(order) : silent),
    },
    verdictAnchors: {
      ...verdictAnchors,
      latest: async (subject, limit) => {
        if (taken <= 0) throw new Error('no route')
        return verdictAnchors.latest(subject, limit)
      },
      anchor: async (order) => (taken-- > 0 ? verdictAnchors.anchor(order) : Promise.reject(new Error('no route'))),
    },
  }))
  market = await openMarketplace({}, { chain, ticker: noTicks })
})
afterAll(() => market.close())

const ctx = () => market.daemon.ctx

async function providerWithJobs(count: number) {
  const provider = await registered(market, { type: 'provider' })
  const agentId = await linkIdentity(ctx(), provider)
  const ids = await endedJobs(
    ctx(),
    Array.from({ length: count }, () => ({ provider_id: provider.id })),
  )
  return { provider, agentId, ids }
}

const feedbackCount = async (agentId: bigint) => {
  const { reputationRegistry, payTo } = ctx().chain
  const [starred, rate] = await Promise.all(
    ['starred', 'successRate'].map((tag1) =>
      reputationRegistry.getSummary({ agentId, clients: [payTo], tag1, tag2: '' }),
    ),
  )
  return [starred?.count, rate?.count]
}

describe.each(sides)('a crash %s each step', (side) => {
  test('of the cron: each job counts once, and everything is published once', async () => {
    const steps = await crashAtEachStep(reputation, ctx(), {
      side,
      arrange: () => providerWithJobs(2),
      async check({ provider, agentId, ids }) {
        const { store, chain } = ctx()
        expect((await store.table(standings).get(ofProvider(provider.id).id))?.sums.jobs).toBe(2)
        expect(await store.table(uncountedJobs).count('due', [])).toBe(0)
        expect(await store.table(publications).count('due', [])).toBe(0)
        expect(await feedbackCount(agentId)).toEqual([2n, 2n])
        expect(await store.table(documents).getMany(ids.map((id) => `feedback:${id}`))).toHaveLength(2)
        const state = await store.table(evidence).get(provider.id)
        const anchors = await chain.verdictAnchors.latest(subjectHash(provider.id), 10)
        expect(anchors).toHaveLength(state?.built ?? 0)
        expect(anchors[0]?.root).toBe(state?.root)
      },
    })
    // Two jobs, one document, and two transactions around each of five calls.
    expect(steps).toBe(18)
  })
})

test('what the chain did not take is tried again later, and then is there once', async () => {
  const { provider, agentId } = await providerWithJobs(1)
  taken = 1
  await countReputation(ctx())
  const waiting = async () => (await ctx().store.table(publications).page('due', [], { limit: 10 })).rows
  expect((await waiting()).map(({ status, attempts, last_error }) => [status, attempts, last_error])).toEqual([
    ['sent', 1, 'unavailable'],
    ['sent', 1, 'unavailable'],
  ])
  taken = Number.POSITIVE_INFINITY
  await countReputation(ctx())
  expect(await waiting()).toHaveLength(2)
  const due = await reputation.nextDue?.(ctx(), ctx().clock.now())
  expect(due).toBeGreaterThan(ctx().clock.now() + MINUTE_MS)
  await timeline.of(ctx()).move({
    to: ctx().clock.now() + 60 * MINUTE_MS,
    state: 'running',
    signal: new AbortController().signal,
    also: async () => undefined,
  })
  await countReputation(ctx())
  expect(await waiting()).toEqual([])
  expect(await feedbackCount(agentId)).toEqual([1n, 1n])
  expect(await ctx().chain.verdictAnchors.latest(subjectHash(provider.id), 10)).toHaveLength(1)
})

test('feedback that the registry refuses is given up, and says why', async () => {
  const { provider, ids } = await providerWithJobs(1)
  await ctx().store.tx(async (t) => {
    const link = await t.table(identityLinks).getForUpdate(provider.id)
    if (link) await t.table(identityLinks).put({ ...link, agent_id: '999999' })
  })
  await countReputation(ctx())
  const given = await ctx().store.table(publications).get(`feedback:${ids[0]}:starred`)
  expect(given).toMatchObject({ status: 'failed', open: false, last_error: 'unknown_agent', transaction: null })
})

test('a moved clock stops where a job is to be counted', async () => {
  const now = ctx().clock.now()
  expect(await reputation.nextDue?.(ctx(), now)).toBeNull()
  const provider = await registered(market, { type: 'provider' })
  const later = now + 90 * MINUTE_MS
  await endedJobs(ctx(), [{ provider_id: provider.id, ended_at: later }])
  expect(await reputation.nextDue?.(ctx(), now)).toBe(later)
  await countReputation(ctx())
  expect(await ctx().store.table(standings).get(ofProvider(provider.id).id)).toBeUndefined()
  expect(await reputation.nextDue?.(ctx(), later + 1)).toBeNull()
})

test('what the chain says is not sold while it does not answer, and replayed once it was', async () => {
  const { provider } = await providerWithJobs(1)
  await countReputation(ctx())
  const buyer = await market.buyer('1.00')
  const path = `/v1/reputation/${provider.account.address}/onchain`
  const pay = async () => signPayment(buyer.account, await market.call('GET', path))
  taken = 0
  const refused = await market.call('GET', path, { headers: await pay() })
  expect([refused.status, refused.body.code]).toEqual([503, 'unavailable'])
  expect(await ctx().chain.balanceOf(buyer.wallet)).toBe(1_000_000n)
  taken = Number.POSITIVE_INFINITY
  const headers = await pay()
  const told = await market.call('GET', path, { headers })
  expect(told.body.anchors).toHaveLength(1)
  await endedJobs(ctx(), [{ provider_id: provider.id }])
  await countReputation(ctx())
  const again = await market.call('GET', path, { headers })
  expect([again.text, again.headers.get('Idempotency-Replayed')]).toEqual([told.text, 'true'])
  expect(await ctx().chain.balanceOf(buyer.wallet)).toBe(995_000n)
})
