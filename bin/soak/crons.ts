import { setTimeout as sleep } from 'node:timers/promises'
import { auditBooks } from '../../daemon/features/audit/audit.ts'
import { jobs } from '../../daemon/features/jobs/rows.ts'
import { account } from '../../daemon/features/ledger/legs.ts'
import { accounts, ledger } from '../../daemon/features/ledger/rows.ts'
import { subscriptions } from '../../daemon/features/subscriptions/rows.ts'
import { createDaemon } from '../../daemon/index.ts'
import { startDaemon } from '../../fixtures/kit/child.ts'
import { credit } from '../../fixtures/kit/money.ts'
import { callsTo, type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'
import { toWallet } from '../../src/core/hex.ts'
import { DAY_MS } from '../../src/core/time.ts'

const BUYERS = 8
const BALANCE = '100.00'
/** What a registered person of the fixtures has left. */
const WALLET_MICRO = 9_990_000n
const JOB = { agent: 525_000n, net: 500_000n }
const PLAN = { agent: 10_500_000n, net: 10_000_000n }
const LIFE_MIN_MS = 20
const LIFE_MAX_MS = 300
/** A kill that came before the end says that there was time for a later one. */
const LIFE_GROWTH = 1.2
/** Several renewals, and long after everything else has fallen due. */
const MOVE_MS = 100 * DAY_MS
/** What a renewal is at least behind the one before it. */
const MONTH_MIN_MS = 27 * DAY_MS
/** Where nobody listens: each message goes through all its retries. */
const DEAD_END = 'http://127.0.0.1:9/hook'

export type CronsResult = {
  readonly kills: number
  /** Kills that came before the clock had arrived. */
  readonly midway: number
  readonly jobs: number
  readonly renewals: number
  /** What was due and is not done, or done twice, one line each. Must be empty. */
  readonly faults: readonly string[]
}

type Load = {
  readonly market: Marketplace
  readonly provider: Person
  readonly referrer: Person
  readonly buyers: readonly Person[]
  readonly delivered: readonly string[]
  readonly undelivered: readonly string[]
}

/** Everything that a cron will have to do: releases, refunds to both places, renewals, shares, payouts, notifications. */
async function openLoad(): Promise<Load> {
  const market = await openMarketplace({ crons: true })
  const referrer = await registered(market, { type: 'agent' })
  const referred = { referral_code: `ref_${referrer.id}` }
  const provider = await registered(market, { type: 'provider', webhook_url: DEAD_END, ...referred })
  const listing = { name: 'Soaked', description: 'Waits for its end.', price: '0.50', fulfillment_type: 'human' }
  const service = await must(provider, '/v1/services', { ...listing, estimated_delivery: '1 hour' })
  const plan = { name: 'Soaked', description: 'Renews.', price: '10.00', billing_period: 'monthly' }
  const { id: planId } = await must(provider, '/v1/plans', { ...plan, service_ids: [service.id] })
  await provider.call('PUT', '/v1/postings/notifications', { enabled: true })
  const load = {
    market,
    provider,
    referrer,
    buyers: [] as Person[],
    delivered: [] as string[],
    undelivered: [] as string[],
  }
  for (let number = 0; number < BUYERS; number += 1) {
    const buyer = await registered(market, { type: 'agent', ...referred })
    await credit(market, buyer.id, BALANCE)
    load.buyers.push(buyer)
    const path = `/v1/services/${service.id}/purchase`
    load.undelivered.push(
      (await buyer.pay(path, { body: {} })).body.job_id,
      (await fromBalance(market, buyer, path)).job_id,
    )
    const { job_id } = await fromBalance(market, buyer, path)
    await must(provider, `/v1/jobs/${job_id}/update`, { status: 'completed', deliverables: { done: true } })
    load.delivered.push(job_id)
    await fromBalance(market, buyer, `/v1/plans/${planId}/subscribe`)
  }
  const request = {
    title: 'Soaked',
    brief: { words: 3 },
    category: 'other',
    budget_min_usd: 1,
    budget_max_usd: 2,
  }
  await must(load.buyers[0] as Person, '/v1/postings', request)
  return load
}

async function must(who: Person, path: string, body: unknown) {
  const answer = await who.call('POST', path, body)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}

async function fromBalance(market: Marketplace, buyer: Person, path: string) {
  const answer = await market.call('POST', path, { body: {}, headers: { 'X-BALANCE-AUTH': buyer.key } })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}

/** One life: the clock is moved on, and the process is killed on the way. @returns what the next one needs to know. */
async function oneLife({ market }: Load, { target, withinMs }: Life): Promise<{ midway: boolean; withinMs: number }> {
  const child = await startDaemon(market.config)
  const { admin } = callsTo(() => child.url, market.dir)
  const begun = performance.now()
  let tookMs: number | undefined
  const moved = move(admin, target).then(
    () => {
      tookMs = performance.now() - begun
    },
    () => undefined, // the connection breaks when the process is killed
  )
  await sleep(Math.random() * withinMs)
  const midway = tookMs === undefined
  await child.kill()
  await moved
  return { midway, withinMs: Math.max(LIFE_MIN_MS, tookMs ?? withinMs * LIFE_GROWTH) }
}

/** `withinMs`: how long a move takes as far as is known, so that kills come while there is work. */
type Life = { readonly target: number; readonly withinMs: number }

async function timeOf(admin: Marketplace['admin']): Promise<number> {
  return Date.parse((await admin('GET', '/dashboard/api/admin/clock')).body.now)
}

async function move(admin: Marketplace['admin'], target: number): Promise<void> {
  if ((await timeOf(admin)) >= target) return
  const set = new Date(target).toISOString()
  const answer = await admin('POST', '/dashboard/api/admin/clock', { body: { set } })
  if (answer.status !== 200) throw new Error(answer.text)
}

/** What is there after the last life, held against what the load must have come to. */
async function examine(load: Load, target: number): Promise<{ faults: string[]; renewals: number }> {
  const { market, provider, referrer, buyers, delivered, undelivered } = load
  await move(market.admin, target)
  const { ctx } = market.daemon
  const { store, chain } = ctx
  const faults: string[] = []
  const expect = (what: string, found: unknown, wanted: unknown) => {
    if (found !== wanted) faults.push(`${what}: ${found}, not ${wanted}`)
  }
  const report = await auditBooks(ctx)
  for (const check of report.checks.filter(({ ok }) => !ok)) faults.push(`audit ${check.name}: ${check.detail}`)
  for (const id of delivered) expect(id, (await store.table(jobs).get(id))?.status, 'released')
  for (const id of undelivered) expect(id, (await store.table(jobs).get(id))?.escrow_status, 'refunded')
  for (const kind of ['esc', 'hold', 'rfd', 'out', 'refp', 'prov']) {
    const { rows } = await store.table(accounts).page('kind', [kind], { limit: 1_000 })
    for (const row of rows) expect(row.id, row.balance, 0n)
  }
  const renewals = await chargesOf(market, buyers, expect)
  const sales = BigInt(delivered.length) * JOB.net + BigInt(renewals + buyers.length) * PLAN.net
  const onChain = (who: Person) => chain.balanceOf(toWallet(who.account.address))
  expect('paid to the provider', await onChain(provider), WALLET_MICRO + sales)
  for (const buyer of buyers) expect(`wallet of ${buyer.id}`, await onChain(buyer), WALLET_MICRO)
  // A fifth of each fee for the buyer, a quarter for the provider: both were referred by the same one.
  const shareOf = ({ agent, net }: typeof JOB) => (agent - net) / 5n + (agent - net) / 4n
  const shares = BigInt(delivered.length) * shareOf(JOB) + BigInt(renewals + buyers.length) * shareOf(PLAN)
  expect('earned by the referrer', (await store.table(accounts).get(account.referral(referrer.id)))?.balance, shares)
  return { faults, renewals }
}

/** Renewals by the books: each charged a month behind the one before, and as often as its subscription says. */
async function chargesOf(
  { daemon: { ctx } }: Marketplace,
  buyers: readonly Person[],
  expect: (what: string, found: unknown, wanted: unknown) => void,
): Promise<number> {
  const charges = new Map<string, number[]>()
  let after: string | null = null
  for (let more = true; more; ) {
    const query = { limit: 1_000, ...(after === null ? {} : { after }) }
    const page = await ctx.store.table(ledger).page('seq', [], query)
    for (const row of page.rows) {
      if (row.kind === 'renewal') charges.set(row.ref_id, [...(charges.get(row.ref_id) ?? []), row.at])
    }
    after = page.cursor
    more = page.more
  }
  expect('subscriptions that were renewed', charges.size, buyers.length)
  for (const [id, times] of charges) {
    expect(`charges of ${id}`, (await ctx.store.table(subscriptions).get(id))?.charges, times.length + 1)
    times.forEach((at, number) => {
      const gap = at - (times[number - 1] ?? 0)
      expect(`${id} was charged twice within a month`, gap < MONTH_MIN_MS, false)
    })
  }
  return [...charges.values()].flat().length
}

/** A daemon with work for every cron, killed again and again while its clock is moved over the time of all of it. */
export async function run(kills: number): Promise<CronsResult> {
  const load = await openLoad()
  const { market } = load
  try {
    const start = market.daemon.ctx.clock.now()
    await market.daemon.stop()
    let midway = 0
    let withinMs = LIFE_MAX_MS
    for (let kill = 1; kill <= kills; kill += 1) {
      const target = start + Math.ceil((MOVE_MS * kill) / kills)
      const life = await oneLife(load, { target, withinMs })
      withinMs = life.withinMs
      if (life.midway) midway += 1
      process.stderr.write(`crons ${kill}/${kills}\n`)
    }
    market.daemon = await createDaemon(market.config)
    const { faults, renewals } = await examine(load, start + MOVE_MS)
    if (faults.length > 0) {
      process.exitCode = 1
      process.stderr.write(`${faults.join('\n')}\n`)
    }
    return { kills, midway, jobs: load.delivered.length + load.undelivered.length, renewals, faults }
  } finally {
    await market.close()
  }
}
