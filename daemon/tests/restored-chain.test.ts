import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Child, startChild } from '../../fixtures/kit/child.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { runs } from '../../fixtures/kit/depth.ts'
import { type CallOptions, type Calls, callsTo, noPrograms, signPayment } from '../../fixtures/market/marketplace.ts'
import { type Hex, toWallet } from '../../src/core/hex.ts'
import type { Config } from '../../src/model/start.ts'
import { auditBooks } from '../features/audit/audit.ts'
import { payouts } from '../features/payouts/rows.ts'
import { createDaemon, type Daemon, replaceData } from '../index.ts'
import { type PublicChain, startPublicChain } from '../ports/chain/evm/start/public.testkit.ts'
import { everyRow } from '../store/each-page.ts'

/*
 * The machine of a marketplace on a public chain is lost after its last backup, which is restored elsewhere.
 * @story of one marketplace that is backed up, sells on, is lost and restored
 * @slow a chain that makes a block each second, and processes that are killed
 */

/** Purchases after the backup; every third is a job of the seller, which is paid out before the loss. */
const SALES = runs(1_000, 30)
const AT_ONCE = runs(50, 10)
/** A thousand purchases take longer than other tests may. */
const LONG_MS = 1_800_000
/** Kills of the restored marketplace before it has caught up. */
const KILLS = runs(8, 2)
/** Transfers that are booked before the second, the third kill, and so on. */
const PAST = 2
/** Each refund waits for blocks, one after the other. */
const REFUNDS = 2
const DOLLAR = 1_000_000n
const SDN = join(import.meta.dirname, '../../fixtures/sdn/sample.xml')

type Market = Child & Calls & { readonly url: string }

let root: string
let chain: PublicChain
let lost: Market
let daemon: Daemon
let minted = 0n
let giving = Promise.resolve()
const people: Hex[] = []
const keys: { readonly payTo: Hex; readonly gas: Hex } = { payTo: generatePrivateKey(), gas: generatePrivateKey() }
let seller: PrivateKeyAccount
let sellerKey: string
let sellerId: string
let house: string
let work: string
/** A job that is open when the backup is made. */
let early: string
/** The latest payment. */
let last: CallOptions & { readonly path: string }
/** Buyers of the jobs that were delivered after the backup. */
const delivered: PrivateKeyAccount[] = []

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'souk-restored-'))
  chain = await startPublicChain('base', ['--block-time', '1', '--mixed-mining', '--slots-in-an-epoch', '1'])
  await chain.giveGas(privateKeyToAccount(keys.gas).address)
  lost = await begin(configOf('lost'))
})
afterAll(async () => {
  await daemon?.stop()
  await lost?.kill()
  await chain?.stop()
  await rm(root, { recursive: true, force: true })
})

function configOf(name: string, change: Partial<NonNullable<Config['chainSetup']>> = {}): Config {
  const file = (key: 'payTo' | 'gas') => {
    const path = join(root, `${key}.key`)
    writeFileSync(path, `${keys[key]}\n`, { mode: 0o600 })
    return path
  }
  const chainSetup = {
    ...{ rpcUrls: [chain.url], realMoney: true, payToKeyFile: file('payTo'), gasKeyFile: file('gas') },
    ...change,
  }
  return { ...configDefaults, chain: 'base', chainSetup, sdnSource: SDN, dataDir: join(root, name) }
}

async function begin(config: Config): Promise<Market> {
  const child = startChild('../payments/mortal-market.ts', { config })
  const { url } = JSON.parse(await child.line())
  return { ...child, url, ...callsTo(() => url, config.dataDir) }
}

async function funded(): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  // The node gives nonces to one transaction after the other.
  giving = giving.then(() => chain.giveUsdc(account.address, DOLLAR))
  await giving
  minted += DOLLAR
  people.push(account.address)
  return account
}

async function must(answer: ReturnType<Calls['call']>) {
  const { status, body, text } = await answer
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body
}

async function pay(account: PrivateKeyAccount, path: string, body: unknown) {
  const offer = await lost.call('POST', path, { body })
  last = { path, body, headers: await signPayment(account, offer) }
  return must(lost.call('POST', path, last))
}

const run = (market: Calls, name: string) => must(market.admin('POST', `/dashboard/api/admin/crons/${name}/run`))
const asSeller = (path: string, body: unknown, market: Calls = lost) =>
  must(market.call('POST', path, { body, headers: { 'X-API-Key': sellerKey } }))
const deliver = (job: string, market: Calls = lost) =>
  asSeller(`/v1/jobs/${job}/update`, { status: 'completed', deliverables: { words: 3 } }, market)

async function backup(): Promise<void> {
  const key = readFileSync(join(root, 'lost', 'admin.key'), 'utf8').trim()
  const answer = await fetch(`${lost.url}/dashboard/api/admin/backup`, { headers: { Authorization: `Bearer ${key}` } })
  writeFileSync(TAR(), Buffer.from(await answer.arrayBuffer()))
}
const TAR = () => join(root, 'market.tar')

/** What the chain has: of people, of the marketplace, and in its contract. */
async function onChain(): Promise<bigint> {
  const { payTo } = daemon.ctx.chain
  const held = (await daemon.ctx.chain.escrow?.status())?.held ?? 0n
  const wallets = await Promise.all([...people, payTo].map((wallet) => chain.usdcOf(wallet)))
  return wallets.reduce((sum, one) => sum + one, held)
}

const found = async () =>
  (await everyRow(daemon.ctx.store.table(payouts), { index: 'newest', prefix: [], limit: 500 })).filter(
    ({ ref_kind: kind }) => kind === 'transfer',
  )

test(
  'it sells, is backed up, sells and pays out on, and is lost',
  async () => {
    seller = await funded()
    const registered = await pay(seller, '/v1/register', { name: 'a seller', type: 'provider' })
    sellerKey = registered.api_key
    sellerId = registered.participant_id
    const listing = {
      ...{ name: 'work', description: 'done later', price: '0.10', fulfillment_type: 'automated', category: 'other' },
      ...{ estimated_delivery: '1 hour', tags: [], input_schema: { type: 'object' } },
      deliverable_schema: { type: 'object' },
    }
    work = `/v1/services/${(await asSeller('/v1/services', listing)).id}/purchase`
    const { services: all } = await must(lost.call('GET', '/v1/services/catalog?limit=100'))
    house = `/v1/services/${all.find(({ name }: { name: string }) => name === 'QR code').id}/purchase`
    early = (await pay(await funded(), work, { at: 'early' })).job_id
    await pay(await funded(), house, { data: 'early' })
    // One debt is in the backup and paid after it.
    const owed = (await pay(await funded(), work, { at: 'owed' })).job_id
    await deliver(owed)
    await run(lost, 'escrow-monitor')
    await backup()

    for (let at = 0; at < SALES; at += AT_ONCE) {
      const sales = Array.from({ length: Math.min(AT_ONCE, SALES - at) }, (_, n) => at + n)
      await Promise.all(
        sales.map(async (n) => {
          const buyer = await funded()
          if (n % 3 > 0) return pay(buyer, house, { data: String(n) })
          const { job_id: job } = await pay(buyer, work, { n })
          // Of the last jobs, the money is still in the contract.
          return n < SALES - AT_ONCE ? deliver(job).then(() => void delivered.push(buyer)) : undefined
        }),
      )
    }
    await deliver(early)
    // The contract pays the marketplace back before the marketplace can pay the seller.
    for (; (await chain.usdcOf(seller.address)) < DOLLAR; await sleep(500)) {
      for (const cron of ['escrow-monitor', 'provider-settlement', 'auto-refund']) await run(lost, cron)
    }
    await lost.kill()
    rmSync(join(root, 'lost'), { recursive: true })
  },
  LONG_MS,
)

test('elsewhere it does not start without its keys, nor on another chain', async () => {
  const { home } = await replaceData(join(root, 'new'), TAR())
  expect(home?.pay_to).toBe(toWallet(privateKeyToAccount(keys.payTo).address))
  const refusal = (change: Parameters<typeof configOf>[1]) =>
    createDaemon(configOf('new', change), { engines: noPrograms }).then(
      () => 'started',
      (error: Error) => error.message,
    )
  const other = join(root, 'other.key')
  expect(await refusal({ payToKeyFile: other })).toContain(`put the key of ${home?.pay_to} there`)
  writeFileSync(other, `${generatePrivateKey()}\n`, { mode: 0o600 })
  expect(await refusal({ gasKeyFile: other })).toMatch(
    new RegExp(`--gas-key-file ${other} has the key of 0x.*of this marketplace is ${home?.gas_key}: put that key into`),
  )
  const [sepolia, fresh] = await Promise.all([startPublicChain('base-sepolia'), startPublicChain('base')])
  try {
    expect(await refusal({ rpcUrls: [sepolia.url] })).toMatch(/on chain 84532, and --chain base is chain 8453/)
    // A chain that lacks what the backup has seen: the first block of this one is another.
    expect(await refusal({ rpcUrls: [fresh.url] })).toMatch(/created on another chain.*use a node/)
  } finally {
    await Promise.all([sepolia.stop(), fresh.stop()])
  }
})

test(
  'with its keys it books what moved since, and pays nothing twice',
  async () => {
    const before = await chain.usdcOf(seller.address)
    for (let kill = 0; kill < KILLS; kill += 1) {
      const point = { place: 'while it catches up', after: kill * PAST } as const
      const child = startChild('../payments/mortal-market.ts', { config: configOf('new'), point })
      await expect(child.line(), 'it lives on').rejects.toThrow('ended')
    }
    daemon = await createDaemon(configOf('new'), { engines: noPrograms })
    const calls = callsTo(() => daemon.url, join(root, 'new'))
    expect(daemon.notes.join()).toContain('restored from a backup')
    for (; daemon.ctx.chain.catchUp?.isDue(); await sleep(500)) await run(calls, 'auto-refund')
    const rows = await found()
    const [payments, paid] = [rows.filter(({ blocked }) => blocked), rows.filter(({ blocked }) => !blocked)]
    expect(payments).toHaveLength(SALES)
    expect(paid.map(({ wallet }) => wallet)).toContain(toWallet(seller.address))
    const audit = async () => (await auditBooks(daemon.ctx)).checks.filter(({ ok }) => !ok)
    await expect.poll(audit, { timeout: 60_000 }).toEqual([])
    for (const cron of ['escrow-monitor', 'provider-settlement', 'auto-refund']) await run(calls, cron)
    expect(await chain.usdcOf(seller.address)).toBe(before)
    expect(await onChain()).toBe(minted)

    // The buyer of a kept payment buys nothing more with it.
    expect((await calls.call('POST', last.path, last)).status).toBe(409)

    for (const id of [payments[0]?.id, paid[0]?.id]) {
      await must(calls.admin('GET', `/dashboard/api/admin/requests/${id}/story`))
    }

    // What the seller was paid in advance is set off against a job of the backup that is delivered now,
    await deliver(early, calls)
    for (const cron of ['escrow-monitor', 'provider-settlement', 'auto-refund']) await run(calls, cron)
    expect(await chain.usdcOf(seller.address)).toBe(before)
    // and against payments of which the operator says that they were for its jobs.
    const wallets = new Set<string>(delivered.map(({ address }) => toWallet(address)))
    const sold = payments.filter(({ wallet }) => wallets.has(wallet))
    expect(sold).toHaveLength(delivered.length)
    for (const { id } of sold) {
      const body = { amount: '0.1', reason: 'the seller delivered it', settles: id }
      await must(calls.admin('POST', `/dashboard/api/admin/participants/${sellerId}/adjust`, { body }))
    }
    const again = { amount: '0.1', reason: 'once more', settles: sold[0]?.id }
    const path = `/dashboard/api/admin/participants/${sellerId}/adjust`
    expect((await calls.admin('POST', path, { body: again })).status).toBe(409)
    expect((await found()).filter(({ advanced }) => advanced !== undefined)).toEqual([])
    expect(await audit()).toEqual([])

    // The others are refunded in time.
    expect((await calls.admin('GET', '/dashboard/api/admin/attention')).text).toContain('--settles')
    const left = (await found()).filter(({ blocked }) => blocked)
    expect(left).toHaveLength(SALES - sold.length)
    const waiting = left.slice(0, REFUNDS)
    await daemon.ctx.store.tx(async (t) => {
      for (const { id } of waiting) {
        const row = await t.table(payouts).getForUpdate(id)
        if (row) await t.table(payouts).put({ ...row, next_attempt_at: 0 })
      }
    })
    const rest = async () => {
      await run(calls, 'auto-refund')
      expect(await audit()).toEqual([])
      return (await Promise.all(waiting.map(({ wallet }) => chain.usdcOf(wallet)))).filter((held) => held !== DOLLAR)
    }
    for (; (await rest()).length > 0; await sleep(500));
    expect(await onChain()).toBe(minted)
    expect(await chain.usdcOf(seller.address)).toBe(before)
    await daemon.stop()
    daemon = await createDaemon(configOf('new'), { engines: noPrograms })
    expect(daemon.notes.join()).not.toContain('restored')
    expect(await audit()).toEqual([])
  },
  LONG_MS,
)
