import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { verifyStore } from '../../daemon/store/lowdb/verify.ts'
import { PURCHASE_PRICE_MICRO, paymentId, purchaseCollections } from '../bench/purchase.ts'

const LIFE_MIN_MS = 20
const LIFE_MAX_MS = 250
/** Numbers set aside for each round, more than any round can buy. */
const PURCHASES_PER_ROUND = 10_000_000

/** Where the store keeps its rows. */
type Rows = 'memory' | 'level'

export type Kill9Result = {
  readonly rounds: number
  readonly acknowledged: number
  /** Acknowledged purchases that were not there after recovery. Must be 0. */
  readonly lost: number
  /** Purchases found with a part missing. Must be 0. */
  readonly halves: number
}

/** One life of the store process, ended by SIGKILL. @returns the purchases it acknowledged */
async function liveAndDie(dir: string, round: number, rows: Rows): Promise<number[]> {
  const worker = fileURLToPath(new URL('./kill9.worker.ts', import.meta.url))
  const child = spawn(process.execPath, [worker, dir, String(round * PURCHASES_PER_ROUND), rows], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  let output = ''
  const ready = Promise.withResolvers<void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    ready.resolve()
  })
  await Promise.race([ready.promise, closed])
  await sleep(LIFE_MIN_MS + Math.random() * (LIFE_MAX_MS - LIFE_MIN_MS))
  child.kill('SIGKILL')
  const [code] = (await closed) as [number | null]
  if (code !== null) throw new Error(`the store process ended by itself with code ${code}`)
  // What follows the last line feed was being written when the process died.
  const [first, ...numbers] = output.slice(0, output.lastIndexOf('\n')).split('\n')
  if (first !== 'ready') throw new Error('the store process was killed before it was ready')
  return numbers.map(Number)
}

/** Replays the directory and counts what is missing and what is there by halves. */
async function examine(dir: string, acknowledged: readonly number[]): Promise<{ lost: number; halves: number }> {
  const ids = new Set<string>()
  let balances = 0n
  const { counts } = await verifyStore({
    dir,
    collections: purchaseCollections,
    visit: (collection, row) => {
      if (collection === 'payments' && 'id' in row) ids.add(String(row.id))
      if (collection === 'accounts' && 'balance' in row) balances += BigInt(String(row.balance))
    },
  })
  const purchases = ids.size
  const parts = [counts.jobs, counts.ledger, Number(balances / PURCHASE_PRICE_MICRO)]
  const halves = parts.reduce<number>((worst, part) => Math.max(worst, Math.abs((part ?? 0) - purchases)), 0)
  return { lost: acknowledged.filter((n) => !ids.has(paymentId(n))).length, halves }
}

/**
 * Kills the store under 16 writers again and again, over one directory, and looks for every acknowledged purchase.
 * Progress on stderr; sets a non-zero exit code when anything is lost or halved.
 */
export async function run(rounds: number, rows: Rows): Promise<Kill9Result> {
  const dir = await mkdtemp(`${tmpdir()}/souk-kill9-`)
  const acknowledged: number[] = []
  let found = { lost: 0, halves: 0 }
  try {
    for (let round = 0; round < rounds && found.lost + found.halves === 0; round += 1) {
      acknowledged.push(...(await liveAndDie(dir, round, rows)))
      found = await examine(dir, acknowledged)
      process.stderr.write(
        `kill -9 ${round + 1}/${rounds}: ${acknowledged.length} acknowledged, ${found.lost} lost, ${found.halves} halved\n`,
      )
    }
  } finally {
    await rm(dir, { recursive: true })
  }
  if (found.lost + found.halves > 0) process.exitCode = 1
  return { rounds, acknowledged: acknowledged.length, ...found }
}
