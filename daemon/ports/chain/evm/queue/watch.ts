import type { RpcAnswer } from '../rpc/endpoint.ts'
import { numberIn } from '../rpc/values.ts'
import { transmit } from './assign.ts'
import { type Core, inFlight, isClosed, noteError, type OpenTx } from './core.ts'
import { follow } from './follow.ts'
import { include } from './include.ts'
import { receiptIn } from './receipt.ts'
import { replaceOrResend } from './replace.ts'
import { supersede } from './supersede.ts'

/** Receipts are asked for at least so often, also while no block appears. */
const RECEIPTS_MS = 500
/** A nonce is given up after two looks that lie so far apart. */
const DOUBT_MS = 1_000
const RETRY_MS = 100

/** Looks at the chain while something is in flight or not final, until the queue is closed. */
export async function runWatch(core: Core): Promise<void> {
  const { timings, wall } = core.options
  while (!isClosed(core)) {
    const pause = pauseOf(core)
    await core.watch.wait(pause)
    if (isClosed(core)) return
    try {
      if (inFlight(core).length > 0) await look(core)
      if (core.open.size > 0 && wall() - core.followedAt >= timings.followMs) await follow(core)
    } catch (error) {
      core.dirty = true
      noteError(core, error)
      await core.watch.wait(RETRY_MS)
    }
  }
}

function pauseOf(core: Core): number | undefined {
  if (core.dirty && inFlight(core).length > 0) return 0
  if (inFlight(core).length > 0) return core.options.timings.pollMs
  return core.open.size > 0 ? core.options.timings.followMs : undefined
}

/** The head; and receipts where it moved, something was sent, or some time has passed. */
async function look(core: Core): Promise<void> {
  const { rpc, wall, signer } = core.options
  if (!core.dirty && wall() - core.lookedAt < RECEIPTS_MS) {
    const { head } = await rpc.read([])
    if (head.hash === core.looked) return
  }
  core.dirty = false
  const flying = inFlight(core)
  const hashes = flying.flatMap(({ row }) => row.sends.map(({ hash }) => hash))
  const { head, answers } = await rpc.read([
    { method: 'eth_getTransactionCount', params: [signer.address, 'latest'] },
    ...hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  ])
  const [count, ...receipts] = answers
  let at = 0
  const seen = flying.map((tx) => {
    const from = at
    at += tx.row.sends.length
    return { tx, answers: receipts.slice(from, at) }
  })
  core.head = head
  core.headAt = wall()
  await included(core, seen)
  if (count?.ok) await doubt(core, seen, numberIn(count.result))
  await late(core)
  // Only now: a head whose receipts were not read would never be looked at again on a chain that stands still.
  core.looked = head.hash
  core.lookedAt = wall()
}

type Seen = { readonly tx: OpenTx; readonly answers: readonly RpcAnswer[] }

async function included(core: Core, seen: readonly Seen[]): Promise<void> {
  const found = seen.flatMap(({ tx, answers }) => {
    const receipt = answers.map((answer) => (answer.ok ? receiptIn(answer.result) : undefined)).find(Boolean)
    return receipt && tx.row.sends.some(({ hash }) => hash === receipt.hash) ? [{ tx, receipt }] : []
  })
  if (found.length > 0) await include(core, found)
}

/** Nodes count transactions before they tell receipts: one look decides nothing. */
async function doubt(core: Core, seen: readonly Seen[], count: number): Promise<void> {
  const now = core.options.wall()
  for (const { tx, answers } of seen) {
    if (tx.row.state !== 'signed') continue
    if (count <= tx.row.nonce) tx.doubtAt = undefined
    else if (answers.every((answer) => answer.ok && answer.result === null)) {
      tx.doubtAt ??= now
      if (now - tx.doubtAt >= DOUBT_MS) await supersede(core, tx, count)
    }
  }
}

async function late(core: Core): Promise<void> {
  core.stuck = false
  for (const tx of inFlight(core)) if (await replaceOrResend(core, tx)) transmit(core, tx)
}
