import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jobDraft, participantDraft, threadDraft, walletOf } from '../../fixtures/kit/rows.ts'
import { jobStatuses } from '../../src/model/job.ts'
import { partyRoles } from '../../src/model/words.ts'
import { collections } from '../app.ts'
import { insertJob, jobParties, jobs, putJob } from '../features/jobs/rows.ts'
import { insertThread, putThread, threadParties, threads } from '../features/threads/rows.ts'
import { openMemoryStore } from '../store/memory/open.testkit.ts'
import { ownIds } from './parties.ts'
import { participants } from './rows.ts'

/** People by number; each may buy from each. */
const PEOPLE = 3
const person = fc.integer({ min: 0, max: PEOPLE - 1 })
/** Few enough that statuses repeat. */
const FEW = 3
const status = fc.constantFrom(...jobStatuses.slice(0, FEW))

type Act =
  | { kind: 'insert'; buyer: number; provider: number; status: (typeof jobStatuses)[number] }
  | { kind: 'move'; pick: number; status: (typeof jobStatuses)[number] }

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), buyer: person, provider: person, status }),
  fc.record({ kind: fc.constant('move' as const), pick: fc.nat(), status }),
)

async function openWithPeople() {
  const store = openMemoryStore(collections)
  await store.tx(async (t) => {
    for (let i = 0; i < PEOPLE; i += 1) await t.table(participants).insert(participantDraft(i))
  })
  return store
}

type Known = { id: string; buyer: number; provider: number; status: string; at: number }

const question = fc.record({
  who: person,
  role: fc.constantFrom(undefined, ...partyRoles),
  status: fc.option(fc.constantFrom(...jobStatuses.slice(0, FEW)), { nil: undefined }),
  limit: fc.integer({ min: 1, max: 6 }),
  offset: fc.nat(6),
})

test('own jobs are those of a naive filter, after any writes, for every role, status and slice', async () => {
  const property = fc.asyncProperty(
    fc.array(act, { maxLength: 30 }),
    fc.array(question, { minLength: 5, maxLength: 20 }),
    async (acts, questions) => {
      const store = await openWithPeople()
      const known: Known[] = []
      for (const [at, next] of acts.entries()) await run(store, known, { at, next })
      for (const { limit, offset, ...asked } of questions) {
        const query = { wallet: walletOf(asked.who), role: asked.role, status: asked.status, limit, offset }
        const mine = naive(known, asked)
        const found = await store.read((t) => ownIds(t, jobParties, query))
        expect(found).toEqual({ ids: mine.slice(offset, offset + limit), total: mine.length, limit, offset })
      }
      await store.close()
    },
  )
  await fc.assert(property, { numRuns: 200 })
})

type Step = { at: number; next: Act }

async function run(store: Awaited<ReturnType<typeof openWithPeople>>, known: Known[], { at, next }: Step) {
  await store.tx(async (t) => {
    if (next.kind === 'insert') {
      if (next.buyer === next.provider) return
      const job = await insertJob(t, { ...jobDraft(at, next), status: next.status })
      known.push({ id: job.id, buyer: next.buyer, provider: next.provider, status: next.status, at })
      return
    }
    const picked = known[next.pick % Math.max(1, known.length)]
    if (!picked) return
    const locked = await t.table(jobs).getForUpdate(picked.id)
    if (!locked) throw new Error('lost')
    await putJob(t, { ...locked, status: next.status })
    picked.status = next.status
  })
}

type Filter = { who: number; role: string | undefined; status: string | undefined }

function naive(known: readonly Known[], { who, role, status: wanted }: Filter): string[] {
  return known
    .filter((job) => (role !== 'provider' && job.buyer === who) || (role !== 'buyer' && job.provider === who))
    .filter((job) => wanted === undefined || job.status === wanted)
    .sort((a, b) => b.at - a.at)
    .map((job) => job.id)
}

test('threads move to the top of both lists when they change', async () => {
  const store = await openWithPeople()
  await store.tx(async (t) => {
    for (const at of [1, 2]) await insertThread(t, threadDraft(at, { buyer: 0, provider: 1 }))
    const locked = await t.table(threads).getForUpdate(threadDraft(1, { buyer: 0, provider: 1 }).id)
    if (locked) await putThread(t, { ...locked, updated_at: 3 })
  })
  for (const who of [0, 1]) {
    const query = { wallet: walletOf(who), role: undefined, status: undefined, limit: 10, offset: 0 }
    const { ids } = await store.read((t) => ownIds(t, threadParties, query))
    expect(ids).toEqual([1, 2].map((at) => threadDraft(at, { buyer: 0, provider: 1 }).id))
  }
  await store.close()
})
