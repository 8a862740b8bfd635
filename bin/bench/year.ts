import { openPlans, START } from '../../fixtures/market/plans.ts'
import { DAY_MS } from '../../src/core/time.ts'
import type { Measured } from './report.ts'

const ROUNDS = 5
const MANY = 100
const MANY_ROUNDS = 2
const YEAR_MS = 366 * DAY_MS
const RENEWALS_A_YEAR = 12

/** A year of monthly plans that begin on 31 January: what moving the clock through it takes, all crons running. */
export async function year(): Promise<readonly Measured[]> {
  const one = await rounds(1, ROUNDS)
  const many = await rounds(MANY, MANY_ROUNDS)
  return [
    {
      name: 'a year of 1 monthly subscription under the test clock',
      values: one.map(({ ms }) => ms),
      unit: 'ms',
      budget: { informs: true },
      detail: `${one[0]?.jumps} jumps, ${one[0]?.runs} runs of crons, ${RENEWALS_A_YEAR} renewals; durable writes`,
    },
    {
      name: `the same of ${MANY} subscriptions, for each`,
      values: many.map(({ ms }) => ms / MANY),
      unit: 'ms',
      budget: { informs: true },
      detail: `${RENEWALS_A_YEAR * MANY} renewals, each in a transaction of its own`,
    },
  ]
}

type Moved = { readonly ms: number; readonly jumps: number; readonly runs: number }

async function rounds(subscriptions: number, count: number): Promise<Moved[]> {
  const moved: Moved[] = []
  for (let round = 0; round < count; round += 1) moved.push(await goThrough(subscriptions))
  return moved
}

async function goThrough(subscriptions: number): Promise<Moved> {
  const market = await openPlans({}, { crons: true, durability: 'full' })
  try {
    const ids = await subscribe(market, subscriptions)
    const body = { set: new Date(START + YEAR_MS).toISOString() }
    const started = performance.now()
    const answer = await market.market.admin('POST', '/dashboard/api/admin/clock', { body })
    const ms = performance.now() - started
    for (const id of ids) {
      const { charges } = await market.row(id)
      if (charges !== RENEWALS_A_YEAR + 1) throw new Error(`${id} paid for ${charges} periods`)
    }
    return { ms, jumps: answer.body.jumps, runs: answer.body.runs_total }
  } finally {
    await market.close()
  }
}

/** Subscribers of one plan, with money for the year. */
async function subscribe(market: Awaited<ReturnType<typeof openPlans>>, count: number): Promise<string[]> {
  const plan = await market.plan([await market.list('human')], { price: '0.10' })
  const ids: string[] = []
  for (let number = 0; number < count; number += 1) {
    const answer = await market.subscribe(plan, await market.agent('1.50'))
    if (answer.status !== 200) throw new Error(answer.text)
    ids.push(answer.body.id)
  }
  return ids
}
