import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUser, type User } from '../../fixtures/kit/user.ts'

// @slow markets are filled by the command line

let user: User
beforeAll(async () => {
  user = await openUser()
})
afterAll(() => user.close())

test('the demo fills a marketplace that runs, and what its people hold stays good', async () => {
  const { json } = user
  const before = await json('up', '--port', '0')
  await json('wallet', 'new', 'mine')
  await json('wallet', 'fund', 'mine', '--amount', '7')
  const { pay_to: payee } = await json('api', '/health')
  const seeded = await json('seed', 'demo')
  expect(seeded).toMatchObject({ seed: 'demo', changed: true })
  expect(await json('api', '/health')).toMatchObject({ pay_to: payee, instance_id: before.instance_id })
  expect(await json('wallet', 'show', 'mine')).toMatchObject({ active: true })
  expect((await json('clock', 'show')).offset_ms).toBe(0)
  expect((await json('money', 'audit')).ok).toBe(true)

  // Its people can be acted as, and what was there before still pays.
  expect((await json('jobs', 'list', '--as', 'acme')).jobs.length).toBeGreaterThan(5)
  expect((await json('account', 'show', '--as', 'lingua')).name).toBe('Lingua')
  expect(await json('buy', 'qr_code', '-i', 'data=hello', '--as', 'mine', '--yes')).toMatchObject({
    status: 'completed',
  })

  // A second time, and a history of one's own in the way, change nothing.
  const { jobs } = await json('jobs', 'list', '--as', 'mine')
  expect(await json('seed', 'demo')).toMatchObject({ changed: false })
  expect((await json('jobs', 'list', '--as', 'mine')).jobs).toEqual(jobs)
})

test('whatever came of a trade is told as a tree, and what is durable of it after a restart too', async () => {
  const { json, souk } = user
  await json('wallet', 'new', 'poor')
  const refused = await souk('buy', 'qr_code', '-i', 'data=x', '--pay', 'x402', '--as', 'poor')
  expect(refused.code).toBe(5)
  const [request = ''] = /req_[0-9a-f]{16}/.exec(refused.err) ?? []
  const { job_id: job } = await json('buy', 'qr_code', '-i', 'data=x', '--pay', 'x402', '--as', 'mine', '--yes')
  const payout = (await json('admin', 'payouts', '--status', 'confirmed')).payouts[0].id
  const dead = (await json('admin', 'webhooks', 'list', '--status', 'dead')).deliveries[0].id
  const told = async (id: string) => {
    const { code, out } = await souk('why', id)
    expect({ id, code }).toEqual({ id, code: 0 })
    return out
  }
  const durable = async () => {
    expect(await told(job)).toMatch(/✓ .*signed \$0\.01.*settled.*QR code.*job_/s)
    expect(await told(payout)).toMatch(/^✓ .*confirmed, 1 try.*\n└─ ✓ transferred on the chain/m)
    expect(await told(dead)).toMatch(/^✗ .*dead: failed after 3 tries.*\n├─ ✗ try 1.*\n├─ ✗ try 2.*\n└─ ✗ try 3/m)
  }
  expect(await told(job)).toMatch(/^✓ 402 requested \$0\.01/m)
  const { out, err } = await souk('why', request)
  expect(out).toMatch(/^✓ 402 requested \$0\.01.*\n✗ 0x.*answered 402.*cannot cover the price/m)
  expect(out + err).not.toContain('nothing is known')
  await durable()
  await json('restart')
  await durable()
})

test('the demo comes first or not at all: a marketplace with a history keeps it and goes on running', async () => {
  const { json, souk } = user
  const other = ['--instance', 'other']
  const { pid } = await json('up', '--port', '0', '--seed', 'house', ...other)
  await json('wallet', 'fund', 'mine', '--amount', '7', ...other)
  await json('account', 'register', '--as', 'mine', ...other)
  const refused = await souk('seed', 'demo', ...other)
  expect(refused.code).not.toBe(0)
  expect(refused.err).toContain('already has data')
  expect(await json('status', ...other)).toMatchObject({ pid })
})
