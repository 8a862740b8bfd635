import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jobDraft, walletOf } from '../../../fixtures/kit/rows.ts'
import { usdc } from '../../../src/core/money.ts'
import { jobDueEvents } from '../../../src/model/job.ts'
import { heldKinds } from '../../../src/model/ledger.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import type { Tx } from '../../store/port.ts'
import { jobParties, jobs } from '../jobs/rows.ts'
import { account } from '../ledger/legs.ts'
import { accounts } from '../ledger/rows.ts'
import { soonestAccounts, soonestFirst } from './routes.ts'

const job = fc.record({
  event: fc.constantFrom(null, ...jobDueEvents),
  at: fc.integer({ min: 1, max: 9 }),
  /** Money of a job that is over, or that nobody knows, is a fault; it is told all the same. */
  is: fc.constantFrom('held', 'empty', 'ended', 'unknown'),
})
type Drawn = typeof job extends fc.Arbitrary<infer T> ? T : never

const BLOCKED = account.blocked(walletOf(0))
const draftOf = (number: number) => jobDraft(number, { buyer: 0, provider: 1 })

async function plant(t: Tx, { event, at, is }: Drawn, number: number): Promise<void> {
  const draft = draftOf(number)
  const held = { id: account.escrow(draft.id), kind: 'esc', balance: usdc(1n) } as const
  if (is !== 'empty') await t.table(accounts).insert(held)
  if (is === 'unknown') return
  const isOpen = is !== 'ended'
  const next = isOpen && event !== null ? { next_event: event, next_event_at: at, open: true } : {}
  await t.table(jobs).insert({ ...draft, ...next, ended_at: isOpen ? null : 1, ended_by: null })
}

/** What holds something, by its account, and when it is due. */
const heldOf = (drawn: readonly Drawn[]) =>
  drawn.flatMap(({ is, event, at }, number) => {
    const due = is === 'held' && event !== null ? at : Number.POSITIVE_INFINITY
    return is === 'empty' ? [] : [{ id: account.escrow(draftOf(number).id), due }]
  })

test('each account that holds something is found once, those of jobs by what is due soonest', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(job, { maxLength: 30 }), fc.boolean(), async (drawn, all) => {
      const store = openMemoryStore([jobs, jobParties, accounts])
      await store.tx(async (t) => {
        await t.table(accounts).insert({ id: BLOCKED, kind: 'blk', balance: usdc(1n) })
        for (const [number, one] of drawn.entries()) await plant(t, one, number)
      })
      const found: string[] = []
      for await (const piece of soonestAccounts(store, all ? heldKinds : ['esc']))
        found.push(...piece.map(({ id }) => id))
      const held = heldOf(drawn)
      expect(found.toSorted()).toEqual([...(all ? [BLOCKED] : []), ...held.map(({ id }) => id)].toSorted())
      const due = found.flatMap((id) => held.find((one) => one.id === id)?.due ?? [])
      expect(due).toEqual(due.toSorted((a, b) => (a === b ? 0 : a - b)))
      await store.close()
    }),
  )
})

test('what nothing moves by itself stands before what moves, and that by its time', () => {
  const hold = (name: string, next_event: string | null, next_event_at: number | null) =>
    ({
      account: name,
      kind: 'esc',
      amount: usdc(1n),
      owner: null,
      reason: '',
      expected: null,
      next_event,
      next_event_at,
    }) as const
  const sorted = [
    hold('e', 'verify', 7),
    hold('c', 'remind', 9),
    hold('d', 'expire', 3),
    hold('b', null, null),
    hold('f', 'release', 7),
    hold('a', 'sent', null),
  ].toSorted(soonestFirst)
  expect(sorted.map(({ account: name }) => name).join('')).toBe('abcdef')
})
