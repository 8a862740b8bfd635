import { afterAll, beforeAll, expect, test } from 'vitest'
import { credit } from '../fixtures/kit/money.ts'
import { openRemoteMarket, type RemoteMarket } from '../fixtures/kit/remote-market.ts'
import { toWallet } from '../src/core/hex.ts'

// @story one balance until nothing is left

/* A balance is no one-way street: by the command line it comes back to the wallet. */

let shop: RemoteMarket
let id: string
beforeAll(async () => {
  shop = await openRemoteMarket()
  await shop.json(['wallet', 'new', 'ann'])
  await shop.json(['wallet', 'fund', 'ann'])
  id = (await shop.json(['account', 'register', '--as', 'ann'])).participant_id
  await credit(shop.market, id, '5.00')
})
afterAll(() => shop.market.close())

const pay = () => shop.json(['crons', 'run', 'auto-refund'])
const onChain = (address: string) => shop.market.daemon.ctx.chain.balanceOf(toWallet(address))

test('money in the balance is not stuck there: a part comes out, then all that is left', async () => {
  const part = await shop.json(['balance', 'withdraw', '1.50', '--as', 'ann'])
  expect(part).toMatchObject({ withdrawn: '1.50', available: '3.50', status: 'created' })
  const before = await onChain(part.wallet)
  const second = await shop.souk(['balance', 'withdraw', '1.00', '--as', 'ann'])
  expect([second.code, second.err]).toEqual([expect.any(Number), expect.stringContaining(part.payout_id)])
  expect(second.code).not.toBe(0)
  await pay()
  const { out } = await shop.souk(['balance', 'withdraw', 'all', '--as', 'ann'], { columns: 200 })
  expect(out).toContain('$3.50 is on its way to')
  await pay()
  expect((await onChain(part.wallet)) - before).toBe(5_000_000n)
  const history = (await shop.json(['balance', 'history', '--as', 'ann'])).entries
  expect(history.map((entry: { type: string }) => entry.type)).toEqual(['withdrawal', 'withdrawal', 'deposit'])
})

test('nothing is left to withdraw: it says so, and sends nothing', async () => {
  const { code, err } = await shop.souk(['balance', 'withdraw', 'all', '--as', 'ann'])
  expect(code).not.toBe(0)
  expect(err).toContain('There is nothing to withdraw: $0.00 is available')
})

test.each(['0', 'much', '-1'])('%s is no amount, and is not sent', async (amount) => {
  expect((await shop.souk(['balance', 'withdraw', '--as', 'ann', '--', amount])).code).toBe(2)
})

test('who earned nothing by referrals is told how, in one sentence', async () => {
  const { code, err } = await shop.souk(['referrals', 'withdraw', '--to', 'wallet', '--as', 'ann'])
  expect(code).not.toBe(0)
  expect(err).toContain(`ref_${id}`)
})
