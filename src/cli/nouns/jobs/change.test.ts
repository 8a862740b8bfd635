import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openMarketOf, type RemoteMarket } from '../../../../fixtures/kit/remote-market.ts'

/* A buyer and a provider at the command line: reports, deliveries, and what is said of them. */

let shop: RemoteMarket
let service: string
let file: string
beforeAll(async () => {
  shop = await openMarketOf('ann', 'bob')
  await shop.json(['wallet', 'new', 'carl'])
  await shop.json(['wallet', 'fund', 'carl'])
  const fields = ['name=Words', 'description=Counts', 'price=0.50', 'fulfillment_type=human']
  const set = fields.flatMap((field) => ['--set', field])
  service = (await shop.json(['services', 'create', ...set, '--as', 'bob'])).id
  file = join(shop.market.dir, 'words.json')
  writeFileSync(file, '{"words":3}')
})
afterAll(() => shop.market.close())

const by = (who: string, ...words: string[]) => shop.souk(['jobs', ...words, '--as', who])
const told = (who: string, ...words: string[]) => shop.json(['jobs', ...words, '--as', who])

async function bought(): Promise<string> {
  return (await shop.json(['buy', service, '--as', 'ann', '--pay', 'x402'])).job_id
}

test('a job is reported on, delivered and verified: the payment is released', async () => {
  const job = await bought()
  expect(await told('bob', 'update', job, '--progress', '40%')).toMatchObject({ status: 'in_progress' })
  expect(await told('bob', 'update', job, '--deliverable', file)).toMatchObject({ status: 'completed' })
  expect((await told('ann', 'view', job)).deliverables).toEqual([{ words: 3 }])
  const good = await told('ann', 'verify', job, '--rating', '5', '--comment', 'Right')
  expect(good).toMatchObject({ status: 'released', escrow: { status: 'released' } })
  expect(good.call_payment).toEqual({ method: 'x402', amount: '0.001', asset: 'USDC' })
  expect(await told('ann', 'view', job)).toMatchObject({ verification: { rating: 5, comment: 'Right' } })
})

test('a disputed delivery holds the payment', async () => {
  const job = await bought()
  await shop.json(['jobs', 'update', job, '--deliverable', '-', '--as', 'bob'], { stdin: '{"words":4}' })
  const disputed = await told('ann', 'dispute', job, '--reason', 'There are three', '--category', 'wrong_deliverable')
  expect(disputed).toMatchObject({ status: 'disputed', escrow: { status: 'held' } })
  expect(await told('ann', 'view', job)).toMatchObject({ dispute: { reason: 'There are three' } })
})

test.each(['jobs', 'threads'])('%s dispute says before it charges that it would only be recorded', async (noun) => {
  const { job_id } = await shop.json(['buy', 'qr_code', '-i', 'data=hello', '--as', 'ann', '--pay', 'x402'])
  const { thread_id } = await told('ann', 'view', job_id)
  const words = [noun, 'dispute', noun === 'jobs' ? job_id : thread_id, '--reason', 'Blurred', '--as', 'ann']
  const refused = await shop.souk(words)
  expect([refused.code, refused.out]).toEqual([2, ''])
  expect(refused.err).toContain('moves no money')
  expect(refused.err).toContain('would only be recorded')
  expect(refused.err).toContain('nothing was recorded or charged')
  expect(refused.err).toContain('--record-only')
  expect((await told('ann', 'view', job_id)).dispute ?? null).toBeNull()
  const done = await shop.json([...words, '--record-only'])
  expect((done.job ?? done).dispute).toMatchObject({ status: 'recorded', reason: 'Blurred' })
})

test('own listings that are not offered now are found with their state', async () => {
  const fields = ['name=Sleeping', 'description=Sleeps', 'price=0.50', 'fulfillment_type=human']
  const { id } = await shop.json(['services', 'create', ...fields.flatMap((f) => ['--set', f]), '--as', 'bob'])
  await shop.json(['services', 'edit', id, '--set', 'status=inactive', '--as', 'bob'])
  const { services } = await shop.json(['services', 'list', '--mine', '--as', 'bob'])
  expect(services.find((one: { id: string }) => one.id === id)).toMatchObject({ status: 'inactive' })
  expect((await shop.souk(['services', 'list', '--mine', '--as', 'bob'], { columns: 120 })).out).toContain('(inactive)')
  expect((await shop.souk(['services', 'list', '--mine', '--as', 'carl'])).code).toBe(4)
})

test('a failure gives the money back', async () => {
  const job = await bought()
  const failed = await told('bob', 'update', job, '--status', 'failed', '--notes', 'No page')
  expect(failed).toMatchObject({ status: 'failed', escrow: { status: 'refunded' } })
})

type Refused = { who?: string; words: string[]; exit: number }

test.each<[string, Refused]>([
  ['verify what is not delivered', { words: ['verify', 'JOB'], exit: 6 }],
  ['verify as nobody concerned', { who: 'carl', words: ['verify', 'JOB'], exit: 4 }],
  ['verify what does not exist', { words: ['verify', 'job_0000000000000000'], exit: 3 }],
  ['verify with a rating that there is not', { words: ['verify', 'JOB', '--rating', '9'], exit: 2 }],
  ['verify without paying', { words: ['verify', 'JOB', '--pay', 'none'], exit: 5 }],
  ['dispute without a reason', { words: ['dispute', 'JOB'], exit: 2 }],
  ['update without being registered', { who: 'carl', words: ['update', 'JOB'], exit: 4 }],
  ['update the job of another provider', { words: ['update', 'JOB'], exit: 4 }],
  ['deliver a file that is not there', { who: 'bob', words: ['update', 'JOB', '--deliverable', '/no.json'], exit: 2 }],
])('to %s fails and changes nothing', async (_, { who = 'ann', words, exit }) => {
  const job = await bought()
  const { code, out } = await by(who, ...words.map((word) => (word === 'JOB' ? job : word)))
  expect([code, out]).toEqual([exit, ''])
  expect((await told('ann', 'view', job)).status).toBe('dispatched')
})
