import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { toBytes, keccak256 as viemKeccak } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { onSandbox } from '../../../fixtures/kit/test-chain.ts'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { countReputation, endedJobs, linkIdentity, walletOf } from '../../../fixtures/market/reputation-run.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import type { Dispute } from '../../../src/model/job.ts'
import { createDaemon, replaceData } from '../../index.ts'
import { commit } from '../../store/draw.ts'
import { type JobRow, jobs, putJob } from '../jobs/rows.ts'
import { countedJobs, evidence, standings } from './rows.ts'
import { ofProvider } from './standings.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace({}, { ticker: noTicks })
})
afterAll(() => market.close())

const ctx = () => market.daemon.ctx
const evidencePath = (root: string) => `/v1/reputation/evidence/${root}.json`

// biome-ignore lint/suspicious/noExplicitAny: documents as a stranger reads them
type Document = any

/** The documents of a provider from the latest back to the first, each checked against its name. */
async function chainOf(provider: Person): Promise<Document[]> {
  const found: Document[] = []
  let root = (await ctx().store.table(evidence).get(provider.id))?.root ?? null
  while (root !== null) {
    const { text, body, status } = await market.call('GET', evidencePath(root))
    expect(status).toBe(200)
    expect(viemKeccak(toBytes(text))).toBe(root)
    found.push(body)
    root = body.previous
  }
  return found
}

const kept: Record<string, number> = { none: 100, released: 100, recorded: 60, split: 40 }

/** Points of a job from its facts, written from the documentation and not from the code. */
function points(job: Document): number {
  const { outcome, dispute: end, rating, taken_ms: taken, estimate_ms: estimate, response_ms: response } = job
  const waited = Math.max(0, response - HOUR_MS) / (0.72 * HOUR_MS)
  const communication = response === null ? 0 : Math.max(0, 100 - Math.floor(waited))
  if (outcome !== 'delivered') return 0.1 * communication
  const stars = rating === null ? 75 : 25 * (rating - 1)
  const quality = ['recorded', 'split'].includes(end) ? Math.min(25, stars) : stars
  const penalty = estimate !== null && taken > estimate ? 25 : 0
  return 0.4 * quality + 0.3 * ((kept[end] ?? 0) - penalty) + 0.2 * speed(job) + 0.1 * communication
}

function speed({ taken_ms: taken, estimate_ms: estimate }: Document): number {
  if (taken === 0) return 100
  if (!estimate) return 75
  const ratio = taken / estimate
  return ratio <= 1 ? 100 - Math.floor(20 * ratio) : Math.max(0, 80 - Math.floor(40 * (ratio - 1)))
}

/** The score that follows from the documents alone: of each job its latest entry. */
function recomputed(documents: readonly Document[]): number {
  const latest = new Map<string, number>()
  for (const { jobs: listed } of [...documents].reverse()) {
    for (const job of listed) latest.set(job.job, points(job))
  }
  const sum = [...latest.values()].reduce((total, score) => total + score, 0)
  return (75 * 5 + sum) / (5 + latest.size)
}

const dispute: Dispute = {
  status: 'recorded',
  reason: 'secret words',
  category: 'quality',
  evidence: [],
  opened_at: 1,
  resolution: null,
  buyer_amount: null,
  resolved_by: null,
  resolution_reason: null,
  resolved_at: null,
}

const ends: readonly Partial<JobRow>[] = [
  {},
  { deliverable_schema: null, status: 'completed' },
  { estimate_ms: HOUR_MS / 2 },
  { estimate_ms: 3 * HOUR_MS },
  { status: 'failed', completed_at: null },
  { status: 'cancelled', ended_by: 'provider', completed_at: null },
  { status: 'refunded', dispute: { ...dispute, status: 'resolved', resolution: 'refund' } },
  { dispute: { ...dispute, status: 'resolved', resolution: 'split' } },
  { verification: { by: 'buyer', rating: 2, comment: 'secret words', at: 1 } },
  { verification: { by: 'buyer', rating: 5, comment: null, at: 1 } },
]
/** Jobs that never count. */
const idle: readonly Partial<JobRow>[] = [
  { status: 'cancelled', ended_by: 'buyer' },
  { status: 'refunded' },
  { payment_method: 'subscription' },
  { amount: 0n as JobRow['amount'] },
]

test('a score is recomputed from its evidence, however many jobs and changes there were', async () => {
  const act = fc.oneof(
    { weight: 3, arbitrary: fc.record({ jobs: fc.array(fc.constantFrom(...ends, ...idle), { maxLength: 70 }) }) },
    { weight: 2, arbitrary: fc.record({ disputed: fc.array(fc.nat(), { maxLength: 5 }) }) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 5 }), async (acts) => {
      const provider = await registered(market, { type: 'provider' })
      const ids: string[] = []
      for (const next of acts) {
        if ('jobs' in next) {
          ids.push(
            ...(await endedJobs(
              ctx(),
              next.jobs.map((end) => ({ ...end, provider_id: provider.id })),
            )),
          )
        } else for (const pick of next.disputed) await recordDispute(ids[pick % ids.length])
        await countReputation(ctx())
      }
      await expectWhole(provider, ids)
    }),
    { numRuns: 8 },
  )
})

async function recordDispute(id: string | undefined): Promise<void> {
  if (id === undefined) return
  await commit(ctx(), async (t) => {
    const job = await t.table(jobs).getForUpdate(id)
    if (job?.dispute === null) await putJob(t, { ...job, dispute })
  })
}

async function expectWhole(provider: Person, ids: readonly string[]): Promise<void> {
  const documents = await chainOf(provider)
  const standing = await ctx().store.table(standings).get(ofProvider(provider.id).id)
  const counted = await ctx().store.table(countedJobs).getMany(ids)
  expect(standing?.sums.jobs ?? 0).toBe(counted.length)
  const [latest] = documents
  expect(latest?.total.jobs ?? 0).toBe(counted.length)
  if (!latest) return
  expect(latest.total).toEqual({ ...standing?.sums, score: (standing?.sums.score ?? 0) / 10 })
  expect(Math.abs(recomputed(documents) - latest.score)).toBeLessThanOrEqual(0.005 + 1e-9)
  expect(JSON.stringify(documents)).not.toMatch(/secret|job_|thr_|comment|wallet/)
  for (const document of documents) expect(document.jobs.length).toBeLessThanOrEqual(50)
  const anchors = await ctx().chain.verdictAnchors.latest(viemKeccak(toBytes(provider.id)), 100)
  expect(anchors[0]?.uri).toBe(`${market.url()}${evidencePath(anchors[0]?.root ?? '')}`)
  const built = (await ctx().store.table(evidence).get(provider.id))?.built
  expect(new Set(anchors.map(({ root }) => root)).size).toBe(built)
}

onSandbox('the chain of a devnet and its keys are in no backup')(
  'documents are the same bytes after a restart, and after a restore from a backup',
  async () => {
    const provider = await registered(market, { type: 'provider' })
    await linkIdentity(ctx(), provider)
    const [job] = await endedJobs(ctx(), [{ provider_id: provider.id, notes: 'secret words' }])
    await countReputation(ctx())
    const root = (await ctx().store.table(evidence).get(provider.id))?.root ?? ''
    const paths = [evidencePath(root), `/v1/reputation/feedback/${job}.json`, `/v1/reputation/${walletOf(provider)}`]
    const documents = paths.slice(0, 2)
    const seen = await Promise.all(documents.map((path) => market.call('GET', path)))
    for (const { status, text, headers } of seen) {
      expect(status).toBe(200)
      expect(headers.get('etag')).toBe(`"${viemKeccak(toBytes(text))}"`)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(text).not.toContain('secret')
    }
    await market.restart()
    const again = await Promise.all(documents.map((path) => market.call('GET', path)))
    expect(again.map(({ text }) => text)).toEqual(seen.map(({ text }) => text))

    const dir = await mkdtemp(join(tmpdir(), 'souk-test-'))
    const key = (await readFile(join(market.dir, 'admin.key'), 'utf8')).trim()
    const backup = await fetch(`${market.url()}/dashboard/api/admin/backup`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    await writeFile(join(dir, 'b.tar'), Buffer.from(await backup.arrayBuffer()))
    await replaceData(join(dir, 'restored'), join(dir, 'b.tar'))
    const restored = await createDaemon({ ...market.config, dataDir: join(dir, 'restored') })
    try {
      const texts = await Promise.all(documents.map(async (path) => (await fetch(`${restored.url}${path}`)).text()))
      expect(texts).toEqual(seen.map(({ text }) => text))
      expect(await restored.ctx.chain.verdictAnchors.latest(viemKeccak(toBytes(provider.id)), 2)).toHaveLength(1)
    } finally {
      await restored.stop()
      await rm(dir, { recursive: true, force: true })
    }
  },
)
