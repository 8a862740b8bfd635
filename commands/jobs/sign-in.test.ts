import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'

/* A buyer without an account who has lost the token of the job: the wallet alone opens what it bought. */

let shop: RemoteMarket
let job: string
beforeAll(async () => {
  shop = await openRemoteMarket()
  for (const who of ['bob', 'eve', 'ann']) {
    await shop.json(['wallet', 'new', who])
    await shop.json(['wallet', 'fund', who])
  }
  await shop.json(['account', 'register', '--role', 'provider', '--as', 'bob'])
  const fields = ['name=Words', 'description=Counts', 'price=0.50', 'fulfillment_type=human']
  const { id } = await shop.json(['services', 'create', ...fields.flatMap((one) => ['--set', one]), '--as', 'bob'])
  job = (await shop.json(['buy', id, '--as', 'ann', '--pay', 'x402'])).job_id
  rmSync(join(shop.home, '.config', 'souk', 'secrets.json'))
})
afterAll(() => shop.market.close())

test.each([
  ['view', ['jobs', 'view', 'JOB']],
  ['watch', ['jobs', 'watch', 'JOB', '--wait=10ms']],
  ['list', ['jobs', 'list']],
])('to %s a job of its own costs a wallet nothing, in no way to pay', async (_, words) => {
  const typed = words.map((word) => (word === 'JOB' ? job : word))
  for (const how of ['none', 'auto']) {
    const { out, err } = await shop.souk([...typed, '--as', 'ann', '--pay', how, '--json'])
    expect(JSON.stringify(JSON.parse(out))).toContain('"amount":"0.5')
    expect(err).not.toContain('spent')
  }
})

test('waiting for the job of somebody else never pays; a look at it says what it cost in all', async () => {
  const watched = await shop.souk(['jobs', 'watch', job, '--as', 'eve'])
  expect([watched.code, watched.out]).toEqual([5, ''])
  expect(watched.err).toContain('this command never pays')
  const seen = await shop.souk(['jobs', 'view', job, '--as', 'eve', '--json'])
  expect(JSON.parse(seen.out)).toMatchObject({ job_id: job, status: 'dispatched' })
  expect(JSON.parse(seen.err)).toEqual({ spent: { amount: '0.001', agreed: '0.001', asset: 'USDC' } })
})
