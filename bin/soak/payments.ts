import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { auditBooks } from '../../daemon/features/audit/audit.ts'
import { jobs } from '../../daemon/features/jobs/rows.ts'
import { services } from '../../daemon/features/listings/rows.ts'
import { createDaemon } from '../../daemon/index.ts'
import { startDaemon } from '../../fixtures/kit/child.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { type Calls, callsTo } from '../../fixtures/market/marketplace.ts'
import { buyerFetch } from '../../fixtures/payments/x402-buyer.ts'
import { toWallet, type Wallet } from '../../src/core/hex.ts'
import type { Config } from '../../src/model/start.ts'

const BUYERS = 16
const FUNDS = '500.00'
const FUNDS_MICRO = 500_000_000n
const MAX_PAYMENT_ATOMIC = '1000000'
const SLUG = 'qr_code'
const LIFE_MIN_MS = 100
const LIFE_MAX_MS = 900
/** A purchase is asked for again this often before it counts as never answered. */
const MAX_ATTEMPTS = 400
const RETRY_MS = 25
const TRY_AGAIN = new Set([500, 503])

export type PaymentsResult = {
  readonly rounds: number
  readonly answered: number
  /** Purchases that were answered and are not there, or that never got an answer. Must be 0. */
  readonly lost: number
  /** Purchases made twice, and wallets charged for something else than their jobs. Must be 0. */
  readonly doubled: number
  /** Good payments that were refused. Must be 0. */
  readonly refused: number
  /** Audits that failed. Must be 0. */
  readonly unsound: number
}

type Buyer = { readonly wallet: Wallet; readonly fetch: typeof fetch; readonly bought: string[] }

type Soak = {
  readonly config: Config
  child: Awaited<ReturnType<typeof startDaemon>>
  readonly market: Calls
  isOpen: boolean
  path: string
  lost: number
  refused: number
  unsound: number
  readonly seen: string[]
}

/** Every other buyer speaks x402 v1, the rest v2; all by the published client. */
async function makeBuyer(soak: Soak, number: number): Promise<Buyer> {
  const account = privateKeyToAccount(generatePrivateKey())
  const wallet = toWallet(account.address)
  await soak.market.admin('POST', '/dashboard/api/admin/faucet', { body: { wallet, amount: FUNDS } })
  const health = await soak.market.call('GET', '/health')
  const assetCap = { asset: health.body.chain.asset, maxAtomic: MAX_PAYMENT_ATOMIC }
  return { wallet, bought: [], fetch: buyerFetch({ account, version: number % 2 === 0 ? 1 : 2, assetCap }) }
}

/** Buys one thing after the other until the shop closes; the one under way is asked for until it is answered. */
async function buyWhileOpen(soak: Soak, buyer: Buyer): Promise<void> {
  for (let number = buyer.bought.length; soak.isOpen; number += 1) {
    const job = await buyOne(soak, buyer, `${buyer.wallet}-${number}`)
    if (job === undefined) soak.lost += 1
    else buyer.bought.push(job)
  }
}

async function buyOne(soak: Soak, buyer: Buyer, key: string): Promise<string | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const answer = await ask(soak, buyer, key)
    if (answer?.status === 200) return answer.job
    if (answer && !TRY_AGAIN.has(answer.status)) {
      soak.refused += 1
      soak.seen.push(answer.text)
    }
    await sleep(RETRY_MS)
  }
  return undefined
}

type PurchaseAnswer = { readonly status: number; readonly text: string; readonly job: string }

/** Undefined: the connection broke, or nobody listens. */
async function ask(soak: Soak, buyer: Buyer, key: string): Promise<PurchaseAnswer | undefined> {
  try {
    const response = await buyer.fetch(`${soak.child.url}${soak.path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify({ data: key }),
    })
    const text = await response.text()
    return { status: response.status, text, job: response.ok ? JSON.parse(text).job_id : '' }
  } catch {
    // The daemon was killed under this request, or has not come back yet.
    return undefined
  }
}

async function oneRound(soak: Soak, buyers: readonly Buyer[]): Promise<void> {
  soak.isOpen = true
  const buying = buyers.map((buyer) => buyWhileOpen(soak, buyer))
  await sleep(LIFE_MIN_MS + Math.random() * (LIFE_MAX_MS - LIFE_MIN_MS))
  soak.isOpen = false
  await soak.child.kill()
  soak.child = await startDaemon(soak.config)
  await Promise.all(buying)
  const { body: report } = await soak.market.admin('GET', '/dashboard/api/admin/audit')
  if (report.ok) return
  soak.unsound += 1
  soak.seen.push(JSON.stringify(report))
}

/** Looks into the folder: each answer has its job, each job its charge, and nothing else was charged. */
async function examine(soak: Soak, buyers: readonly Buyer[]): Promise<{ lost: number; doubled: number }> {
  const daemon = await createDaemon(soak.config)
  const { store, chain } = daemon.ctx
  const service = await store.table(services).page('slug', [SLUG], { limit: 1 })
  const price = service.rows[0]?.price ?? 0n
  let lost = 0
  let doubled = 0
  for (const { wallet, bought } of buyers) {
    const found = await store.table(jobs).getMany(bought)
    const made = await store.table(jobs).count('buyer', [wallet])
    const charged = FUNDS_MICRO - (await chain.balanceOf(wallet))
    lost += bought.length - found.length
    if (made !== new Set(bought).size || charged !== price * BigInt(made)) doubled += 1
  }
  const report = await auditBooks(daemon.ctx)
  if (!report.ok) soak.unsound += 1
  await daemon.stop()
  return { lost, doubled }
}

/**
 * 16 buyers with the published x402 client against a daemon that is killed again and again, over one folder.
 * Progress on stderr; sets a non-zero exit code when money or a purchase went astray.
 */
export async function run(rounds: number): Promise<PaymentsResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-payments-'))
  const config: Config = { dataDir, ...configDefaults, durability: 'full' }
  const soak: Soak = {
    child: await startDaemon(config),
    market: callsTo(() => soak.child.url, dataDir),
    config,
    isOpen: false,
    path: '',
    lost: 0,
    refused: 0,
    unsound: 0,
    seen: [],
  }
  try {
    const { body: catalog } = await soak.market.call('GET', '/v1/services/catalog?q=qr')
    soak.path = `/v1/services/${catalog.services[0]?.id}/purchase`
    const buyers = await Promise.all(Array.from({ length: BUYERS }, (_, number) => makeBuyer(soak, number)))
    for (let round = 0; round < rounds; round += 1) {
      await oneRound(soak, buyers)
      const answered = buyers.reduce((sum, buyer) => sum + buyer.bought.length, 0)
      process.stderr.write(`payments ${round + 1}/${rounds}: ${answered} answered, ${soak.refused} refused\n`)
    }
    await soak.child.kill()
    const { lost, doubled } = await examine(soak, buyers)
    const answered = buyers.reduce((sum, buyer) => sum + buyer.bought.length, 0)
    return verdict(soak, { rounds, answered, lost: lost + soak.lost, doubled })
  } finally {
    await soak.child.kill()
    await rm(dataDir, { recursive: true, force: true })
  }
}

function verdict(soak: Soak, found: Omit<PaymentsResult, 'refused' | 'unsound'>): PaymentsResult {
  const result = { ...found, refused: soak.refused, unsound: soak.unsound }
  if (result.lost + result.doubled + result.refused + result.unsound > 0) {
    process.exitCode = 1
    process.stderr.write(`${soak.seen.slice(0, 5).join('\n')}\n`)
  }
  return result
}
