import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PrivateKeyAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChild } from '../../fixtures/kit/child.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { type Answer, type Calls, callsTo, signPayment } from '../../fixtures/market/marketplace.ts'
import type { Point } from '../../fixtures/payments/mortal-market.ts'
import type { Config } from '../../src/model/start.ts'
import { startTestChain, type TestChain } from '../ports/chain/evm/anvil/anvil.testkit.ts'
import { contracts } from '../ports/chain/evm/contracts/artifacts.testkit.ts'
import { testChainFlags } from '../ports/chain/evm/evm.testkit.ts'

/*
 * A pay-to key leaks while buyers pay, and the daemon is killed at each step of the rescue.
 * @deep a chain, and a daemon that dies at every step
 */

const BUYERS = 16
const DOLLARS = 5
/** Writes of the rows of keys in one rotation, after each of which the daemon dies once. */
const WRITES = 7
const PAUSE_MS = 100
/** How long a daemon that has answered may still die in the steps after it. */
const LINGER_MS = 5_000
const patience = { timeout: 120_000, interval: 200 }

type Market = Calls & Awaited<ReturnType<typeof begin>>
let root: string
let chain: TestChain
let market: Market

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'souk-leaked-'))
  chain = await startTestChain(testChainFlags)
  market = await begin(0)
})
afterAll(async () => {
  await market?.kill()
  await chain?.stop()
  await rm(root, { recursive: true, force: true })
})

/** Starts a daemon that dies after so many writes, once it is told to count them. */
async function begin(after: number) {
  const dataDir = join(root, 'data')
  const point: Point = { place: 'while a key is replaced', after }
  const config: Config = { ...configDefaults, chain: 'devnet', chainSetup: { rpcUrls: [chain.url] }, dataDir }
  const child = startChild('../payments/mortal-market.ts', { config, point })
  const { url } = JSON.parse(await child.line())
  return { ...child, url, ...callsTo(() => url, dataDir) }
}

/** Asks the daemon of this moment: what meets none, or one that is just ending, is asked again. */
async function ask(send: (at: Market) => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send(market).catch(() => undefined)
    if (answer && answer.status !== 503) return answer
    await sleep(PAUSE_MS)
  }
}

const call = (...asked: Parameters<Calls['call']>) => ask((at) => at.call(...asked))

type Shopper = { readonly account: PrivateKeyAccount; bought: number }

/** Buys until told to stop, and gives no purchase up: every one is paid once. */
async function shop(shopper: Shopper, path: string, isOver: () => boolean): Promise<void> {
  const body = { data: 'mine' }
  while (!isOver()) {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    let offer = await call('POST', path, { body })
    for (;;) {
      const paid = await call('POST', path, {
        body,
        headers: { ...headers, ...(await signPayment(shopper.account, offer)) },
      })
      if (paid.status === 200) break
      expect([paid.status, paid.text]).toEqual([402, paid.text])
      offer = paid
    }
    shopper.bought += 1
  }
}

const rotate = (replaces: string): Promise<Answer> =>
  market.admin('POST', '/dashboard/api/admin/keys/rotate', {
    body: { role: 'pay_to', replaces, leaked: true, reason: 'exercise' },
  })

/** Rotates at a daemon that dies after so many writes, then at the next one. @returns the new address */
async function rescued(old: string, after: number): Promise<string> {
  process.kill(market.pid, 'SIGUSR2')
  expect(await market.line()).toBe('armed')
  const told = rotate(old).catch(() => undefined)
  await Promise.race([market.ended, told.then(() => sleep(LINGER_MS))])
  await market.kill()
  market = await begin(after + 1)
  const toldAgain = async () => (await ask(() => rotate(old))).body
  await expect.poll(async () => (await toldAgain()).keys.length, patience).toBe(1)
  const { keys, paused } = await toldAgain()
  expect([keys[0].state, paused]).toEqual(['current', true])
  const unpause = '/dashboard/api/admin/platform/unpause'
  expect((await ask((at) => at.admin('POST', unpause, { body: {} }))).status).toBe(200)
  return keys[0].address
}

test('a leaked key loses, doubles and refuses nothing, wherever the daemon dies', async () => {
  const { body } = await market.call('GET', '/health')
  const { services } = (await market.call('GET', '/v1/services/catalog?limit=100')).body
  const path = `/v1/services/${services.find(({ slug }: { slug: string }) => slug === 'qr_code').id}/purchase`
  const shoppers = await Promise.all(
    Array.from({ length: BUYERS }, async (): Promise<Shopper> => {
      const account = privateKeyToAccount(generatePrivateKey())
      const drip = { wallet: account.address.toLowerCase(), amount: `${DOLLARS}.00` }
      expect((await market.admin('POST', '/dashboard/api/admin/faucet', { body: drip })).status).toBe(200)
      return { account, bought: 0 }
    }),
  )
  let isOver = false
  const shopping = Promise.all(shoppers.map((one) => shop(one, path, () => isOver)))
  const used = [body.pay_to]
  for (let after = 0; after < WRITES; after += 1) {
    const before = shoppers.map(({ bought }) => bought)
    used.push(await rescued(used[after], after))
    await expect.poll(() => shoppers.every(({ bought }, n) => bought > (before[n] ?? 0)), patience).toBe(true)
  }
  isOver = true
  await shopping
  expect(new Set(used).size).toBe(WRITES + 1)
  const asset = (await market.admin('GET', '/dashboard/api/admin/chain')).body.asset
  const held = async (wallet: string) =>
    BigInt(String(await chain.read({ address: asset, abi: contracts.testToken.abi }, 'balanceOf', [wallet])))
  const offer = await market.call('POST', path, { body: { data: 'mine' } })
  const price = BigInt(offer.body.accepts[0].maxAmountRequired)
  for (const { account, bought } of shoppers) {
    expect(await held(account.address)).toBe(BigInt(DOLLARS) * 1_000_000n - BigInt(bought) * price)
  }
  const whole = shoppers.reduce((sum, { bought }) => sum + BigInt(bought), 0n) * price
  expect(await Promise.all(used.map(held))).toEqual([...used.slice(1).map(() => 0n), whole])
  expect((await market.admin('GET', '/dashboard/api/admin/chain')).body.books).toMatchObject({ ok: true })
})
