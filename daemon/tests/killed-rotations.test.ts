import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PrivateKeyAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startChild } from '../../fixtures/kit/child.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { type Answer, type Calls, callsTo, signPayment } from '../../fixtures/market/marketplace.ts'
import type { Point } from '../../fixtures/payments/mortal-market.ts'
import type { Config } from '../../src/model/start.ts'
import { startTestChain, type TestChain } from '../ports/chain/evm/anvil/anvil.testkit.ts'
import { contracts } from '../ports/chain/evm/contracts/artifacts.testkit.ts'
import { testChainFlags } from '../ports/chain/evm/evm.testkit.ts'

/*
 * A key of the operator is replaced while buyers pay, and the daemon is killed at each step.
 * @deep a chain, and a daemon that dies at every step
 */

const BUYERS = 64
const DOLLARS = 20
const PAUSE_MS = 100
/** How long a daemon that has answered may still die in the steps after it. */
const LINGER_MS = 5_000
const patience = { timeout: 120_000, interval: 200 }

type Rotation = {
  readonly role: 'pay_to' | 'gas'
  readonly leaked?: true
  readonly place: Point['place']
  /** Writes after each of which the daemon dies once. */
  readonly after: readonly number[]
}

type Market = Calls & Awaited<ReturnType<typeof begin>>
let root: string
let chain: TestChain
let market: Market

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'souk-rotated-'))
  chain = await startTestChain(testChainFlags)
})
afterEach(async () => {
  await market?.kill()
  await chain?.stop()
  await rm(root, { recursive: true, force: true })
})

/** Starts a daemon that dies after so many writes, once it is told to count them. */
async function begin(point: Point) {
  const dataDir = join(root, 'data')
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

const admin = (path: string, body?: object) =>
  ask((at) => at.admin(body ? 'POST' : 'GET', `/dashboard/api/admin/${path}`, body && { body }))

type Step = Pick<Rotation, 'role' | 'leaked'> & { readonly replaces: string }

const rotate = (at: Market, step: Step): Promise<Answer> =>
  at.admin('POST', '/dashboard/api/admin/keys/rotate', { body: { ...step, reason: 'exercise' } })

/** The address in use of a role, without its letters' case. */
async function addressOf(role: Rotation['role']): Promise<string> {
  const { pay_to: payTo, gas_key: gas } = (await admin('chain')).body
  return (role === 'gas' ? gas.address : payTo).toLowerCase()
}

/** Rotates at a daemon that dies after so many writes, then at the next one. @returns the new address */
async function replaced(step: Step, next: Point): Promise<string> {
  process.kill(market.pid, 'SIGUSR2')
  expect(await market.line()).toBe('armed')
  const told = rotate(market, step).catch(() => undefined)
  await Promise.race([market.ended, told.then(() => sleep(LINGER_MS))])
  await market.kill()
  market = await begin(next)
  const again = async () => (await ask((at) => rotate(at, step))).body
  await expect.poll(async () => (await again()).keys[0].state, patience).toBe('current')
  // The report on the chain compares the books, which never rest under load.
  const address = async (): Promise<string> => (await again()).keys[0].address.toLowerCase()
  await expect.poll(address, patience).not.toBe(step.replaces)
  if (step.leaked) {
    await expect.poll(async () => (await again()).keys.length, patience).toBe(1)
    expect((await again()).paused).toBe(true)
    expect((await admin('platform/unpause', {})).status).toBe(200)
  }
  return address()
}

async function shoppersOf(path: string): Promise<Shopper[]> {
  expect(path).toContain('svc_')
  return Promise.all(
    Array.from({ length: BUYERS }, async (): Promise<Shopper> => {
      const account = privateKeyToAccount(generatePrivateKey())
      const drip = { wallet: account.address.toLowerCase(), amount: `${DOLLARS}.00` }
      expect((await admin('faucet', drip)).status).toBe(200)
      return { account, bought: 0 }
    }),
  )
}

async function pathOfQr(): Promise<string> {
  const { services } = (await call('GET', '/v1/services/catalog?limit=100')).body
  return `/v1/services/${services.find(({ slug }: { slug: string }) => slug === 'qr_code').id}/purchase`
}

const rotations: readonly Rotation[] = [
  { role: 'pay_to', leaked: true, place: 'while a key is replaced', after: [0, 1, 2, 3, 4, 5, 6] },
  // The last write retires the key, two minutes later.
  { role: 'pay_to', place: 'while a key is replaced', after: [0, 1, 2, 3, 4, 5] },
  { role: 'gas', place: 'while a key is replaced', after: [0, 1, 2, 3, 4, 5] },
  { role: 'gas', place: 'while contracts are handed over', after: [0, 1, 4, 8, 12, 13, 16, 20] },
  { role: 'gas', leaked: true, place: 'while contracts are handed over', after: [2, 10, 14] },
]

test.each(rotations)(
  'a rotation ($role, leaked: $leaked) that dies $place loses, doubles and refuses nothing',
  async ({ role, leaked, place, after }) => {
    market = await begin({ place, after: after[0] ?? 0 })
    const [path, payTo] = [await pathOfQr(), await addressOf('pay_to')]
    const shoppers = await shoppersOf(path)
    let isOver = false
    const shopping = Promise.all(shoppers.map((one) => shop(one, path, () => isOver)))
    const used = [await addressOf(role)]
    for (const at of after.keys()) {
      const before = shoppers.map(({ bought }) => bought)
      const step = { role, replaces: used.at(-1) ?? '', ...(leaked && { leaked }) }
      used.push(await replaced(step, { place, after: after[at + 1] ?? Number.MAX_SAFE_INTEGER }))
      await expect.poll(() => shoppers.every(({ bought }, n) => bought > (before[n] ?? 0)), patience).toBe(true)
    }
    isOver = true
    await shopping
    expect(new Set(used).size).toBe(after.length + 1)
    // A replaced pay-to address is quoted for two minutes more.
    const retired = { ...patience, timeout: 300_000 }
    const last = { role, replaces: used.at(-2) ?? '' }
    await expect.poll(async () => (await ask((at) => rotate(at, last))).body.keys.length, retired).toBe(1)

    const { asset } = (await admin('chain')).body
    const held = async (wallet: string) =>
      BigInt(String(await chain.read({ address: asset, abi: contracts.testToken.abi }, 'balanceOf', [wallet])))
    const offer = await call('POST', path, { body: { data: 'mine' } })
    const price = BigInt(offer.body.accepts[0].maxAmountRequired)
    for (const { account, bought } of shoppers) {
      expect(await held(account.address)).toBe(BigInt(DOLLARS) * 1_000_000n - BigInt(bought) * price)
    }
    const whole = shoppers.reduce((sum, { bought }) => sum + BigInt(bought), 0n) * price
    const addresses = role === 'pay_to' ? used : [payTo]
    expect(await Promise.all(addresses.map(held))).toEqual([...addresses.slice(1).map(() => 0n), whole])
    expect((await admin('chain')).body.books).toMatchObject({ ok: true })
  },
)
