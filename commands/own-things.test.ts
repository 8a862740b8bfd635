import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../fixtures/kit/remote-market.ts'

/* What is one's own is read without the admin key: what a wallet holds, the story of a purchase, and what waits. */

let shop: RemoteMarket
let bought: { job_id: string; receipt_id: string }
const as = (name: string, ...words: string[]) => shop.json([...words, '--as', name])
beforeAll(async () => {
  shop = await openRemoteMarket()
  for (const name of ['ann', 'bob', 'cleo']) {
    await shop.json(['wallet', 'new', name])
    await shop.json(['wallet', 'fund', name])
    await as(name, 'account', 'register', '--role', 'both')
  }
  const fields = ['name=Reading', 'description=Reads', 'price=0.50', 'fulfillment_type=human']
  const listing = await as('bob', 'services', 'create', ...fields.flatMap((field) => ['--set', field]))
  await as('ann', 'buy', listing.id, '-i', 'text=hi', '--yes')
  bought = (await as('ann', 'jobs', 'list')).jobs[0]
})
afterAll(() => shop.market.close())

test('what a wallet holds is shown by wallet show, wallet list and balance', async () => {
  const { holds } = await as('ann', 'wallet', 'show')
  expect(holds).toMatch(/^\d+\.\d\d/)
  expect((await as('ann', 'balance', 'show')).wallet).toMatchObject({ name: 'ann', holds })
  const { wallets } = await shop.json(['wallet', 'list'])
  expect(wallets).toContainEqual(expect.objectContaining({ name: 'ann', holds }))
  const { out } = await shop.souk(['wallet', 'list'], { columns: 120 })
  expect(out).toContain(`$${holds}`)
})

test('a wallet is shown without a marketplace that answers', async () => {
  const { out } = await shop.souk(['wallet', 'show', 'ann', '--base-url', 'http://127.0.0.1:1'])
  expect(out).toContain('not known: no marketplace answers')
})

test('why tells buyer and provider of their own purchase, and others nothing', async () => {
  for (const id of [bought.job_id, bought.receipt_id]) {
    const { steps } = await as('ann', 'why', id)
    expect(steps.map((step: { id: string }) => step.id)).toContain(bought.job_id)
    const { code, err } = await shop.souk(['why', id, '--as', 'cleo'])
    expect([code === 0, err.includes('No trace of')]).toEqual([false, true])
  }
  expect((await as('bob', 'why', bought.job_id)).next).toContain(`souk jobs view ${bought.job_id}`)
  const all = await shop.json(['why', bought.job_id])
  expect(all.steps.some(({ kind }: { kind: string }) => kind === 'books')).toBe(true)
})

test('attention lists what you have to do, and says when there is nothing', async () => {
  expect((await as('bob', 'attention')).items).toEqual([
    expect.objectContaining({ kind: 'work', subject: { kind: 'job', id: bought.job_id } }),
  ])
  const file = join(shop.home, 'deliverable.json')
  writeFileSync(file, '{"text":"read"}')
  await as('bob', 'jobs', 'update', bought.job_id, '--status', 'completed', '--deliverable', file)
  expect((await as('ann', 'attention')).items).toMatchObject([
    { kind: 'verify', fix: `souk jobs verify ${bought.job_id} --rating 5` },
  ])
  expect(await as('cleo', 'attention')).toMatchObject({ items: [], total: 0 })
})

test('a quote of the sandbox says that its money is test money', async () => {
  const { out } = await shop.souk(['buy', 'qr_code', '-i', 'data=x', '--quote', '--as', 'ann'], { columns: 120 })
  expect([out.includes('test USDC (sandbox)'), out.includes('USDC on base')]).toEqual([true, false])
})

test('the example of a plan has your own listings, and is taken as it is', async () => {
  await as(
    'bob',
    'services',
    'create',
    ...['name=Planned', 'description=Plans', 'price=0.50'].flatMap((one) => ['--set', one]),
  )
  const { out } = await shop.souk(['plans', 'create', '--example', '--as', 'bob'])
  const file = join(shop.home, 'plan.yaml')
  writeFileSync(file, out)
  const plan = await as('bob', 'plans', 'create', '-f', file)
  expect(plan.id).toMatch(/^plan_/)
})

test('a listing that is made in a pipe says what comes next', async () => {
  const fields = ['name=Piping', 'description=Pipes', 'price=0.50', 'fulfillment_type=human']
  const made = await shop.souk(['services', 'create', ...fields.flatMap((field) => ['--set', field]), '--as', 'bob'])
  expect(`${made.out}${made.err}`).toMatch(/souk services view svc_\w+/)
})

test('the help on the environment names pager, theme and webhook secret', async () => {
  const { out } = await shop.souk(['help', 'environment'])
  for (const name of ['SOUK_PAGER', 'SOUK_THEME', 'SOUK_WEBHOOK_SECRET']) expect(out).toContain(name)
})

test('short signs of the catalog are explained below it', async () => {
  expect((await shop.souk(['listen', '--once', '--as', 'bob'])).code).toBe(0)
  const { out, err } = await shop.souk(['services', 'list', '--limit', '100'], { columns: 120 })
  expect(`${out}${err}`).toMatch(/REP \d+n: n stands for new, fewer than 5 rated jobs/)
  expect(`${out}${err}`).toMatch(/HOOK polls: \w+/)
})

test('why names the zone of its times on a terminal', async () => {
  const { out, err } = await shop.souk(['why', bought.job_id, '--as', 'ann'], { columns: 120 })
  expect(`${out}${err}`).toMatch(/times are .+, by the clock of the marketplace \(business time\)/)
})

test('a receipt leads to its job', async () => {
  const job = await as('ann', 'jobs', 'view', bought.receipt_id)
  expect(job.job_id).toBe(bought.job_id)
})
