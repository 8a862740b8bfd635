import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../../fixtures/kit/depth.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import type { Ask, PersonName } from '../../../fixtures/scenarios/scenario.ts'
import { openStage, type Stage } from '../../../fixtures/scenarios/stage.ts'
import { take } from '../../../fixtures/scenarios/steps.ts'
import type { EndpointName } from '../../../src/api/index.ts'
import { readSigned } from '../../../src/core/codecs.ts'
import { toWallet } from '../../../src/core/hex.ts'
import { balanceOf } from '../ledger/post.ts'
import { payouts } from '../payouts/rows.ts'

// @slow a year of movements

/* Statements are held against the books and the chain, after random histories over the interface. */

type Row = Readonly<Record<string, string>> & { readonly reference: { readonly kind: string } }
type Act = readonly [row: EndpointName, ask: Ask]

const atJob = { id: '$job' }
const cron = (name: string): Act => ['runCron', { as: 'admin', params: { name } }]
const report = (body: unknown): Act => ['updateJob', { as: 'provider', params: atJob, body }]
const buy = (id: string, pay: 'x402' | 'balance'): Act => [
  'purchaseService',
  { as: 'buyer', pay, params: { id }, body: { text: 'one two three' } },
]
const ruling = (body: unknown): Act => ['resolveJob', { as: 'admin', params: atJob, body }]

const acts = {
  deposit: ['deposit', { as: 'buyer', pay: 'x402', body: { amount: '7.77' } }],
  buy: buy('$listing', 'x402'),
  buyFromBalance: buy('$listing', 'balance'),
  deliver: report({ status: 'completed', deliverables: { words: 3 } }),
  fail: report({ status: 'failed' }),
  release: ['verifyJob', { as: 'buyer', params: atJob, body: {} }],
  dispute: ['disputeJob', { as: 'buyer', params: atJob, body: { reason: 'Half is missing.', category: 'quality' } }],
  split: ruling({ outcome: 'split', buyer_amount: '0.20', reason: 'half' }),
  refund: ruling({ outcome: 'refund', reason: 'nothing' }),
  product: ['purchaseProduct', { as: 'buyer', params: { id: '$product' } }],
  subscribe: ['subscribe', { as: 'buyer', params: { id: '$plan' } }],
  call: ['discover', { as: 'buyer', pay: 'x402', body: { query: 'words' } }],
  withdraw: ['withdrawBalance', { as: 'buyer', body: { amount: '0.50' } }],
  rewards: cron('referral-rewards'),
  takeRewards: ['withdrawReferrals', { as: 'other', body: { to: 'balance' } }],
  settle: cron('provider-settlement'),
  pay: cron('auto-refund'),
  share: cron('splitter-distribute'),
  month: ['moveClock', { as: 'admin', body: { advance_ms: 31 * 24 * 3_600_000 } }],
} as const satisfies Record<string, Act>
const histories = fc.array(fc.constantFrom(...(Object.keys(acts) as (keyof typeof acts)[])), {
  minLength: 15,
  maxLength: 40,
})

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

/** A fixed history with a sale, a purchase and a refund, which random histories may lack. */
const whole: (keyof typeof acts)[] = ['deposit', 'buy', 'deliver', 'release', 'buy', 'fail', 'pay', 'settle', 'rewards']

const people = ['buyer', 'provider', 'other'] as const
const stages: Stage[] = []

async function play(history: readonly (keyof typeof acts)[]): Promise<{ stage: Stage; done: string[] }> {
  const stage = openStage(market)
  stages.push(stage)
  await take(stage, ['a referred buyer', 'a listing', 'a plan', 'a product', 'the provider'])
  const done: string[] = []
  for (const name of history) {
    const [row, ask] = acts[name]
    if (JSON.stringify(ask).includes('$job') && !done.some((one) => one.startsWith('buy'))) continue
    const { status, body } = await stage.ask(row, ask)
    expect(status, `${name}: ${JSON.stringify(body)}`).toBeLessThan(500)
    if (status !== 200) continue
    done.push(name)
    if (body.job_id) stage.set('job', body.job_id)
  }
  return { stage, done }
}

const linesIn = (text: string): { kind: string; record: Row }[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

async function statementOf(stage: Stage, name: PersonName): Promise<Row[]> {
  const { key } = await stage.person(name)
  const answer = await market.call('GET', '/v1/export?only=movement', { headers: { 'X-API-Key': key } })
  return movementsIn(answer.text)
}

function movementsIn(text: string): Row[] {
  const lines = linesIn(text)
  expect(lines.at(-1)?.kind).toBe('end')
  return lines.filter(({ kind }) => kind === 'movement').map(({ record }) => record)
}

const sum = (rows: readonly Row[], member = 'net') =>
  rows.reduce((total, row) => total + readSigned(row[member] ?? ''), 0n)
const on = (rows: readonly Row[], account: string) => rows.filter((row) => row.account === account)

/** What the books and the chain say that the accounts of a statement should add up to. */
async function expectedOf(stage: Stage, name: PersonName, rows: readonly Row[]) {
  const { id, account } = await stage.person(name)
  const wallet = toWallet(account.address)
  const { store, chain } = market.daemon.ctx
  const books = await store.read(async (t) => ({
    balance: await balanceOf(t, `bal:${id}`),
    earnings: await balanceOf(t, `prov:${id}`),
    referrals: (await balanceOf(t, `refp:${id}`)) + (await balanceOf(t, `ref:${id}`)),
    sent: (await t.table(payouts).page('wallet', [wallet], { limit: 1_000 })).rows.filter(
      ({ status, kind }) => status === 'confirmed' && kind !== 'refund',
    ),
  }))
  const deposits = sum(rows.filter(({ type }) => type === 'deposit'))
  const sent = books.sent.reduce((total, { amount }) => total + amount, 0n)
  const spent = (await chain.balanceOf(wallet)) - 900_000_000n + deposits - sent
  return { balance: books.balance, earnings: books.earnings, referrals: books.referrals, wallet: spent }
}

/** The rows of a person, held against books and chain. */
async function checked(stage: Stage, name: PersonName, done: readonly string[] = []): Promise<Row[]> {
  const rows = await statementOf(stage, name)
  const wanted = await expectedOf(stage, name, rows)
  const found = Object.fromEntries(Object.keys(wanted).map((account) => [account, sum(on(rows, account))]))
  expect([name, found, done]).toEqual([name, wanted, done])
  for (const row of rows) {
    const [gross, fee, refund, net] = ['gross', 'fee', 'refund', 'net'].map((one) => readSigned(row[one] ?? ''))
    if (row.type === 'sale') expect(net).toBe((gross ?? 0n) - (fee ?? 0n) - (refund ?? 0n))
    if (row.type === 'refund') expect([gross, refund]).toEqual([0n, net])
  }
  const dates = rows.map(({ date }) => date)
  expect(dates).toEqual(dates.toSorted())
  return rows
}

test('statements add up to the books and to the chain, whatever was bought, refunded, ruled and paid out', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const { stage, done } = await play(history)
      for (const name of people) await checked(stage, name, done)
    }),
    { numRuns: runs(60, 6), examples: [[whole]] },
  )
  const rows: Row[] = []
  for (const stage of stages) for (const name of people) rows.push(...(await checked(stage, name)))
  const operator = movementsIn((await market.admin('GET', '/dashboard/api/admin/statement')).text)
  const { store } = market.daemon.ctx
  for (const account of ['fees', 'ops', 'oper']) {
    expect([account, sum(on(operator, account))]).toEqual([account, await store.read((t) => balanceOf(t, account))])
  }
  const fee = sum(on(rows, 'earnings'), 'fee')
  const rewards = sum(on(rows, 'referrals').filter(({ counterparty }) => counterparty !== null))
  const sales = on(operator, 'fees').filter((row) => row.fee !== '0.00')
  expect([sum(sales, 'fee'), sum(sales)]).toEqual([fee, fee - rewards])
  expect(fee).toBeGreaterThan(0n)
  const seen = new Set(rows.map(({ account, type }) => `${account} ${type}`))
  expect([...seen].toSorted()).toEqual(expect.arrayContaining(['earnings sale', 'wallet purchase', 'wallet refund']))
})
