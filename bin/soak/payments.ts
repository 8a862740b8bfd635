import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { auditBooks } from '../../daemon/features/audit/audit.ts'
import { jobs } from '../../daemon/features/jobs/rows.ts'
import { services } from '../../daemon/features/listings/rows.ts'
import { createDaemon } from '../../daemon/index.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
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
  child: ChildProcess
  url: string
  isOpen: boolean
  path: string
  lost: number
  refused: number
  unsound: number
  readonly seen: string[]
}

async function start(config: Config): Promise<{ child: ChildProcess; url: string }> {
  const program = fileURLToPath(new URL('../../fixtures/kit/daemon-process.ts', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify(config)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  return { child, url: JSON.parse(line.toString()).url }
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed
}

/** A call by the administrator: a POST where there is a body. */
async function admin(soak: Soak, path: string, body?: object): Promise<unknown> {
  const key = (await readFile(join(soak.config.dataDir, 'admin.key'), 'utf8')).trim()
  const response = await fetch(`${soak.url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

/** Every other buyer speaks x402 v1, the rest v2; all by the published client. */
async function makeBuyer(soak: Soak, number: number): Promise<Buyer> {
  const account = privateKeyToAccount(generatePrivateKey())
  const wallet = toWallet(account.address)
  await admin(soak, '/dashboard/api/admin/faucet', { wallet, amount: FUNDS })
  const health = (await (await fetch(`${soak.url}/health`)).json()) as { chain: { asset: string } }
  const assetCap = { asset: health.chain.asset, maxAtomic: MAX_PAYMENT_ATOMIC }
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

type Asked = { readonly status: number; readonly text: string; readonly job: string }

/** Undefined: the connection broke, or nobody listens. */
async function ask(soak: Soak, buyer: Buyer, key: string): Promise<Asked | undefined> {
  try {
    const response = await buyer.fetch(`${soak.url}${soak.path}`, {
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
  await kill(soak.child)
  Object.assign(soak, await start(soak.config))
  await Promise.all(buying)
  const report = (await admin(soak, '/dashboard/api/admin/audit')) as { ok: boolean }
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
  const config: Config = {
    dataDir,
    ...configDefaults,
    durability: 'full',
  }
  const soak: Soak = {
    ...(await start(config)),
    config,
    isOpen: false,
    path: '',
    lost: 0,
    refused: 0,
    unsound: 0,
    seen: [],
  }
  try {
    const catalog = (await (await fetch(`${soak.url}/v1/services/catalog?q=qr`)).json()) as {
      services: { id: string }[]
    }
    soak.path = `/v1/services/${catalog.services[0]?.id}/purchase`
    const buyers = await Promise.all(Array.from({ length: BUYERS }, (_, number) => makeBuyer(soak, number)))
    for (let round = 0; round < rounds; round += 1) {
      await oneRound(soak, buyers)
      const answered = buyers.reduce((sum, buyer) => sum + buyer.bought.length, 0)
      process.stderr.write(`payments ${round + 1}/${rounds}: ${answered} answered, ${soak.refused} refused\n`)
    }
    await kill(soak.child)
    const { lost, doubled } = await examine(soak, buyers)
    const answered = buyers.reduce((sum, buyer) => sum + buyer.bought.length, 0)
    return verdict(soak, { rounds, answered, lost: lost + soak.lost, doubled })
  } finally {
    soak.child.kill('SIGKILL')
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
