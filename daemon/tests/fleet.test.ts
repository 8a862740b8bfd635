import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Fleet, openFleet, until } from '../../fixtures/kit/fleet.ts'
import { hasPostgres, testServer } from '../../fixtures/kit/postgres.ts'
import { type Answer, type Calls, signPayment } from '../../fixtures/market/marketplace.ts'

// @slow three daemons that die

/*
 * Three daemons of one database behind a proxy that hands connections to them in turn. They are killed, or restarted
 * one after the other, while buyers buy. A buyer repeats what was not answered, with the same payment.
 */

const COUNT = 3
const BUYERS = Number(process.env.SOUK_TEST_BUYERS ?? 8)
const KILLS = Number(process.env.SOUK_TEST_KILLS ?? 3)
/** Purchases between two kills, by all buyers. */
const BETWEEN = Number(process.env.SOUK_TEST_BETWEEN ?? 12)
/** However slow the machine is, a payment outlives the change of daemons. */
const SIGNED = { change: { validBefore: 4_102_444_800n } }

let fleet: Fleet
let market: Calls

beforeAll(async () => {
  if (!hasPostgres()) return
  const { folder } = await testServer()
  fleet = await openFleet(`postgres://souk@/postgres?host=${folder}&schema=fleet${process.pid}`, COUNT)
  market = fleet.calls()
})
afterAll(() => fleet?.close())

/** What buyers saw. */
type Record = { readonly jobs: string[]; readonly refusals: Answer[]; unanswered: number }

async function openBuyers(): Promise<
  Record & { readonly more: (count: number) => Promise<unknown>; readonly end: () => Promise<void> }
> {
  const seen: Record = { jobs: [], refusals: [], unanswered: 0 }
  let isOver = false
  const answered = (status: number, ...sent: Parameters<Calls['call']>) => repeated(status, () => market.call(...sent))
  function repeated(status: number, ask: () => Promise<Answer>): Promise<Answer> {
    return until(async () => {
      const answer = await ask().catch(() => undefined)
      if (answer === undefined) seen.unanswered += 1
      else if (answer.status === status) return answer
      else if (answer.status === 503) seen.refusals.push(answer)
      else throw new Error(`${answer.status} ${answer.text}`)
      return false
    })
  }
  const catalog = await answered(200, 'GET', '/v1/services/catalog?q=qr')
  const target = `/v1/services/${catalog.body.services[0].id}/purchase`

  async function buy(): Promise<void> {
    const payer = privateKeyToAccount(generatePrivateKey())
    const funds = { body: { wallet: payer.address, amount: '100.00' } }
    await repeated(200, () => market.admin('POST', '/dashboard/api/admin/faucet', funds))
    for (let n = 0; !isOver; n += 1) {
      const body = { data: `${payer.address} ${n}` }
      const headers = await signPayment(payer, await answered(402, 'POST', target, { body }), SIGNED)
      seen.jobs.push((await answered(200, 'POST', target, { body, headers })).body.job_id)
    }
  }
  const buying = Promise.all(Array.from({ length: BUYERS }, buy))
  // A failure ends the wait for more of them.
  const failed = buying.then(() => Promise.reject(new Error('the buyers ended')))
  failed.catch(() => undefined)
  return Object.assign(seen, {
    more: (count: number, from = seen.jobs.length) =>
      Promise.race([failed, until(async () => seen.jobs.length >= from + count)]),
    async end() {
      isOver = true
      await buying
    },
  })
}

/** Every acknowledged purchase is there once, there is no other, and the books are right. */
async function expectAll(acknowledged: readonly string[]): Promise<void> {
  const { admin } = fleet.calls(await fleet.leader())
  const found: string[] = []
  for (let total = 1; found.length < total; ) {
    const { body } = await admin('GET', `/dashboard/api/admin/jobs?limit=100&offset=${found.length}`)
    total = body.total
    found.push(...body.jobs.map(({ job_id }: { job_id: string }) => job_id))
  }
  expect(found.toSorted()).toEqual([...acknowledged].sort())
  const { body: audit } = await admin('GET', '/dashboard/api/admin/audit')
  expect(audit.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
}

describe.skipIf(!hasPostgres())('three daemons behind a proxy', () => {
  const all: string[] = []

  test('lose and double nothing while one after another is killed, the leader among them', async () => {
    const buyers = await openBuyers()
    for (let kill = 0; kill < KILLS; kill += 1) {
      await buyers.more(BETWEEN)
      // The leader is killed every other time; the others take turns.
      const led = await fleet.leader()
      const victim = kill % 2 === 0 ? led : (led + 1 + (kill % (COUNT - 1))) % COUNT
      await fleet.kill(victim)
      await buyers.more(BETWEEN)
      await fleet.start(victim)
    }
    await buyers.end()
    all.push(...buyers.jobs)
    expect(buyers.refusals.filter(({ headers }) => headers.get('retry-after') === null)).toEqual([])
    await expectAll(all)
  })

  test('restart one after the other without an unanswered request, but for those that are told to come back', async () => {
    const buyers = await openBuyers()
    for (let n = 0; n < COUNT; n += 1) {
      await buyers.more(BETWEEN)
      await fleet.stop(n)
      await fleet.start(n)
      await buyers.more(BETWEEN)
    }
    await buyers.end()
    all.push(...buyers.jobs)
    expect(buyers.refusals.filter(({ headers }) => headers.get('retry-after') === null)).toEqual([])
    await expectAll(all)
  })
})
