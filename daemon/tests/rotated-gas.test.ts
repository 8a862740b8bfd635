import { keccak256, stringToBytes, zeroHash } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { soundBooks } from '../../fixtures/kit/money.ts'
import { type Escrow, openEscrow } from '../../fixtures/market/escrow.ts'
import { type Buyer, signPayment } from '../../fixtures/market/marketplace.ts'
import { accountAt, startTestChain, type TestChain } from '../ports/chain/evm/anvil/anvil.testkit.ts'
import { contracts } from '../ports/chain/evm/contracts/artifacts.testkit.ts'
import { testChainFlags } from '../ports/chain/evm/evm.testkit.ts'
import { chainHomes } from '../ports/chain/evm/start/rows.ts'

/*
 * The gas key is replaced while buyers pay.
 * @slow starts a chain
 * @story of one marketplace and its keys
 */

const BUYERS = 16
/** Purchases of each buyer while the key is replaced. */
const EACH = 4
const ETHER = 10n ** 18n
/** What a replaced key may keep: less than a transaction is worth. */
const DUST = ETHER / 10_000n
const patience = { timeout: 120_000, interval: 100 }
const roles = [keccak256(stringToBytes('OPERATOR_ROLE')), keccak256(stringToBytes('PAUSER_ROLE')), zeroHash]

let chain: TestChain
let shop: Escrow
let path: string
let buyers: Buyer[]

beforeAll(async () => {
  chain = await startTestChain(testChainFlags)
  shop = await openEscrow({}, { chain: 'devnet', chainSetup: { rpcUrls: [chain.url] } })
  path = `/v1/services/${await shop.market.serviceId('qr_code')}/purchase`
  buyers = await Promise.all(Array.from({ length: BUYERS }, () => shop.market.buyer('5.00')))
})
afterAll(async () => {
  await shop?.close()
  await chain?.stop()
})

const port = () => shop.ctx().chain
const gasKey = () => port().status?.().gas?.address as `0x${string}`
const home = async () => (await shop.ctx().store.table(chainHomes).get('chain'))?.contracts ?? {}
const keys = async () => (await port().keys?.list())?.map(({ role, state }) => [role, state])

async function rotate(body: Record<string, unknown> = {}) {
  const answer = await shop.market.admin('POST', '/dashboard/api/admin/keys/rotate', { body: { role: 'gas', ...body } })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return answer.body
}

async function buy(buyer: Buyer): Promise<bigint> {
  const offer = await shop.market.call('POST', path, { body: { data: 'mine' } })
  const headers = await signPayment(buyer.account, offer)
  const answer = await shop.market.call('POST', path, { body: { data: 'mine' }, headers })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return BigInt(offer.body.accepts[0].maxAmountRequired)
}

async function load(buyer: Buyer): Promise<bigint> {
  let spent = 0n
  for (let bought = 0; bought < EACH; bought += 1) spent += await buy(buyer)
  return spent
}

/** Whether a gas key has a role in the escrow contract. */
async function rolesOf(key: string): Promise<boolean[]> {
  const { escrow } = await home()
  if (escrow === undefined) throw new Error('this marketplace has no escrow contract')
  const contract = { address: escrow, abi: contracts.escrow.abi }
  return Promise.all(roles.map(async (role) => (await chain.read(contract, 'hasRole', [role, key])) === true))
}

test('a rotation of the gas key under load settles every payment once, and leaves the old key nothing', async () => {
  const [old, before] = [gasKey(), await home()]
  const human = await shop.list('human')
  const agent = await shop.agent({ balance: '9.00' })
  const bought = await shop.buy(human, agent)
  expect(bought.status).toBe(200)
  await shop.monitor()
  expect(await rolesOf(old)).toEqual([true, true, true])

  const during = Promise.all(buyers.map(load))
  const told = await rotate({ reason: 'once a year' })
  const next = gasKey()
  expect(next).not.toBe(old)
  expect(told.keys[0]).toMatchObject({
    role: 'gas',
    state: 'current',
    address: expect.stringMatching(new RegExp(next, 'i')),
  })
  const spent = await during
  await expect.poll(keys, patience).toEqual([
    ['gas', 'current'],
    ['gas', 'retired'],
  ])

  const left = await Promise.all(buyers.map(({ wallet }) => port().balanceOf(wallet)))
  expect(left).toEqual(spent.map((sum) => 5_000_000n - sum))
  expect(await rolesOf(old)).toEqual([false, false, false])
  expect(await rolesOf(next)).toEqual([true, true, true])
  expect(await chain.client.getBalance({ address: old })).toBeLessThan(DUST)
  const now = await home()
  expect(now).toMatchObject({ escrow: before['escrow'], token: before['token'], [`anchors:${old}`]: before['anchors'] })
  expect(now['anchors']).not.toBe(before['anchors'])

  // The new key operates everything that the old one did: money from the faucet, escrow, and the anchors.
  const fresh = await shop.market.buyer('1.00')
  await buy(fresh)
  const done = { status: 'completed', deliverable: { words: 3 } }
  const job = bought.body.job_id
  expect((await shop.provider.call('POST', `/v1/jobs/${job}/update`, done)).status).toBe(200)
  await shop.monitor()
  shop.pass(8 * 86_400_000)
  await shop.monitor()
  await expect.poll(async () => (await shop.job(job)).status, patience).toBe('released')
  const root = `0x${'7'.repeat(64)}` as const
  const anchored = await port().verdictAnchors.anchor({ id: 'after', subject: root, root, uri: 'x' })
  expect(anchored).toMatchObject({ ok: true })
  expect(await port().verdictAnchors.latest(root, 2)).toHaveLength(1)
  await soundBooks(shop.market)

  // Transactions of both keys are listed, those of the new one first.
  const { rows, total } = await port().transactions.page({ isOpen: false, limit: 500, offset: 0 })
  expect(total).toBe(rows.length)
  expect([...new Set(rows.map(({ id }) => id.split(':')[0]))]).toEqual([next, old])
})

test('a leaked gas key pauses the marketplace, and loses its roles also if others send by it', async () => {
  const old = gasKey()
  const thief = accountAt(1)
  // The thief takes nonces of the old key, beside the transactions of the marketplace.
  await chain.client.impersonateAccount({ address: old })
  const theft = await chain.client.sendTransaction({ account: old, to: thief, value: ETHER, chain: null })
  expect(theft).toMatch(/^0x/)
  const told = await rotate({ leaked: true, reason: 'found in a log', replaces: old })
  expect(told.paused).toBe(true)
  await expect.poll(gasKey, patience).not.toBe(old)
  await expect.poll(keys, patience).toEqual([
    ['gas', 'current'],
    ['gas', 'retired'],
    ['gas', 'retired'],
  ])
  expect(await rolesOf(old)).toEqual([false, false, false])
  expect(await rolesOf(gasKey())).toEqual([true, true, true])
  expect((await shop.market.admin('POST', '/dashboard/api/admin/platform/unpause', { body: {} })).status).toBe(200)
  await buy(buyers[0] as Buyer)
  await soundBooks(shop.market)
})
