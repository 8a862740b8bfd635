import { afterAll, beforeAll, expect, it } from 'vitest'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'

/* A plan from both sides of the command line, at a real, detached daemon. */

let user: User
let service: string
let plan: string

beforeAll(async () => {
  user = await openUserAtMarket({ SOUK_NO_INPUT: '1' })
  for (const name of ['seller', 'reader']) await user.register(name, '5.00')
  const listing = { name: 'Echo', description: 'Echoes', price: '0.50', fulfillment_type: 'human' }
  const set = Object.entries(listing).flatMap(([field, value]) => ['--set', `${field}=${value}`])
  service = (await json('services', 'create', ...set, '--as', 'seller')).id
  const fields = ['--name', 'Basic', '--price', '0.20', '--service', service]
  plan = (await json('plans', 'create', ...fields, '--as', 'seller')).plan_id
})

afterAll(() => user.close())

const souk = (...words: string[]) => user.souk(...words)
const json = (...words: string[]) => user.json(...words)

const asReader = ['--as', 'reader']

it('shows plans to everybody, and what a subscriber pays', async () => {
  const listed = await souk('plans', 'list')
  expect(listed.out).toContain(`${plan}\tBasic\t0.21`)
  const shown = await souk('plans', 'view', plan)
  expect(shown.out).toMatch(/Basic {3}● offered[\s\S]*\$0\.21 a month[\s\S]*Echo/)
})

it('subscribes by signature, then buys what the plan holds for nothing', async () => {
  const before = await json('services', 'buy', service, '--quote', ...asReader)
  expect([before.price, before.covered_by]).toEqual(['$0.525', null])
  const begun = await json('plans', 'subscribe', plan, ...asReader)
  expect(begun).toMatchObject({ status: 'active', has_access: true, paid: { method: 'x402', amount: '0.21' } })
  const quoted = await json('services', 'buy', service, '--quote', ...asReader)
  expect(quoted.covered_by).toBe(begun.subscription_id)
  const bought = await json('services', 'buy', service, '--max-price', '0.001', ...asReader)
  expect(bought).toMatchObject({
    status: 'dispatched',
    subscription_id: begun.subscription_id,
    payment: { method: 'none', amount: '0.00' },
  })
  const human = await souk('services', 'buy', service, ...asReader)
  expect(human.out).toContain(`paid $0.00 under ${begun.subscription_id}`)
  const again = await souk('plans', 'subscribe', plan, ...asReader)
  expect([again.code, again.err]).toEqual([6, expect.stringContaining('already subscribed to the plan')])
})

it('pauses, resumes and cancels, from the subscriber’s side only', async () => {
  const { subscriptions } = await json('subs', 'list', '--role', 'buyer', ...asReader)
  const id = subscriptions[0].subscription_id
  expect((await json('subs', 'list', '--role', 'provider', '--as', 'seller')).total).toBe(1)
  expect((await json('subs', 'pause', id, ...asReader)).status).toBe('paused')
  expect((await json('subs', 'resume', id, ...asReader)).status).toBe('active')
  expect(await json('subs', 'cancel', id, ...asReader)).toMatchObject({ status: 'active', cancel_at_period_end: true })
  const shown = await souk('subs', 'view', id, ...asReader)
  expect(shown.out).toContain('● ends')
  expect((await souk('subs', 'cancel', id, '--now', '--yes', '--as', 'seller')).code).toBe(4)
  expect((await souk('subs', 'cancel', id, '--now', '--at-period-end', ...asReader)).code).toBe(2)
  expect((await json('subs', 'cancel', id, '--now', '--yes', ...asReader)).status).toBe('canceled')
  const over = await souk('subs', 'resume', id, ...asReader)
  expect([over.code, over.err]).toEqual([6, expect.stringContaining('canceled')])
})

it('changes and deletes a plan', async () => {
  const edited = await json('plans', 'edit', plan, '--price', '0.40', '--as', 'seller')
  expect(edited).toMatchObject({ agent_price: '0.42', billing_period: 'monthly' })
  expect((await souk('plans', 'edit', plan, '--as', 'seller')).code).toBe(2)
  expect((await json('plans', 'delete', plan, '--yes', '--as', 'seller')).deleted).toBe(true)
  expect((await json('plans', 'list')).total).toBe(0)
})
