import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPayments, soundBooks } from '../../fixtures/kit/money.ts'
import { devnetOfTests } from '../../fixtures/kit/test-chain.ts'
import { openTestSigner, type SignerMood } from '../../fixtures/kit/test-signer.ts'
import { type Marketplace, openMarketplace, signPayment } from '../../fixtures/market/marketplace.ts'

// @slow starts a chain

const body = { data: 'signed elsewhere' }
const patience = { interval: 200 }
let signer: Awaited<ReturnType<typeof openTestSigner>>
let market: Marketplace
let path: string

beforeAll(async () => {
  signer = await openTestSigner()
  const { chainSetup, chain } = await devnetOfTests()
  market = await openMarketplace({ chain, chainSetup: { rpcUrls: [], ...chainSetup, ...(await signer.setup()) } })
  path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
})
afterAll(async () => {
  await market.close()
  signer.close()
})

const faults = () => market.daemon.ctx.chain.status?.().faults.map(({ code }) => code)
async function told() {
  const { items } = (await market.admin('GET', '/dashboard/api/admin/attention')).body
  return items.find(({ id }: { id: string }) => id === 'chain gas_signer')
}
async function signedOrder() {
  const buyer = await market.buyer('1.00')
  const headers = await signPayment(buyer.account, await market.call('POST', path, { body }))
  return { buyer, buy: () => market.call('POST', path, { body, headers }) }
}

test('a marketplace sells with keys that are not on its machine', async () => {
  const before = signer.signed()
  const { buy } = await signedOrder()
  expect((await buy()).status).toBe(200)
  expect(signer.signed()).toBeGreaterThan(before)
})

test.each<[SignerMood, RegExp]>([
  ['hangs', /no answer for|other side closed/],
  ['lies', /it signed with 0x/],
  ['dies', /other side closed|UND_ERR_SOCKET/],
])('while its signer %s, payments wait and it is told; then they are settled without a restart', async (mood, why) => {
  const { buyer, buy } = await signedOrder()
  signer.become(mood)
  const bought = buy()
  await expect.poll(faults, patience).toContain('gas_signer')
  expect(await told()).toMatchObject({ grave: true, fix: 'souk chain status', sentence: expect.stringMatching(why) })
  expect((await market.call('GET', '/health')).body.chain).toMatchObject({ health: 'down' })
  // Nobody is asked for a signature that could not be settled.
  expect((await market.call('POST', path, { body })).status).toBe(503)
  signer.become('works')
  await expect.poll(faults, patience).toEqual([])
  expect([200, 202]).toContain((await bought).status)
  await expect.poll(() => openPayments(market), patience).toEqual([])
  expect((await buy()).status).toBe(200)
  expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBeLessThan(1_000_000n)
  expect(await told()).toBeUndefined()
  await soundBooks(market)
})

test.each(['pay_to', 'gas'] as const)('the key of role %s is replaced by another one of the signer', async (role) => {
  const address = await signer.add()
  const rotated = { body: { role, address } }
  const answer = await market.admin('POST', '/dashboard/api/admin/keys/rotate', rotated)
  expect([answer.status, answer.body.keys[0].state]).toEqual([200, 'current'])
  const { pay_to: payTo, gas_key: gas } = (await market.admin('GET', '/dashboard/api/admin/chain')).body
  expect((role === 'gas' ? gas.address : payTo).toLowerCase()).toBe(address)
  expect((await (await signedOrder()).buy()).status).toBe(200)
  await soundBooks(market)
})

test('an address whose key the signer does not have is refused, before anything changes', async () => {
  const replaces = market.daemon.ctx.chain.status?.().gas?.address
  const body = { role: 'gas', replaces, address: `0x${'9'.repeat(40)}` }
  const answer = await market.admin('POST', '/dashboard/api/admin/keys/rotate', { body })
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('Nothing was started')])
})
