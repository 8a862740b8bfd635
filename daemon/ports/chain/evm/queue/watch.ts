import type { Hex } from '../../../../../src/core/hex.ts'
import { compact } from '../../../../../src/core/record.ts'
import type { RpcAnswer, RpcCall } from '../rpc/endpoint.ts'
import type { BlockTag } from '../rpc/tags.ts'
import { type Head, headIn, numberIn, quantity } from '../rpc/values.ts'
import { transmit } from './assign.ts'
import { type Core, inFlight, isClosed, lineOf, noteError, type OpenTx, pass, seeHead, senderOf } from './core.ts'
import { isEnough, raisedFees } from './fees.ts'
import { type Found, include } from './include.ts'
import { requeue } from './outcome.ts'
import { receiptIn } from './receipt.ts'
import { restore } from './reversal.ts'
import { type ChainTxRow, chainSigners, chainTxs } from './rows.ts'
import { signTransaction } from './signer.ts'
import { watchReversed } from './watched.ts'

/** Gives up a nonce that another program used. Requeues the nonce's orders, which still move money only once. */
async function supersede(core: Core, tx: OpenTx, count: number): Promise<void> {
  const { store, wall, observe } = core.options
  const { id, version, nonce, signer, settled, lost } = tx.row
  const sender = senderOf(core, signer)
  const next = Math.max(sender.nextNonce, count)
  tx.row = await store.tx(async (t) => {
    const own = await t.table(chainSigners).getForUpdate(signer)
    if (own) await t.table(chainSigners).update(own.id, own.version, { next_nonce: next })
    // Items whose money was reported as moved, but is back now. The daemon follows them until it moves again.
    const undone = [...new Set([...settled, ...lost])]
    return await t.table(chainTxs).update(id, version, {
      state: 'superseded',
      open: undone.length > 0 ? true : undefined,
      lost: undone,
      updated_at: wall(),
    })
  })
  core.flying.delete(tx)
  sender.nextNonce = next
  core.counts.foreign += 1
  noteError(core, `nonce ${nonce} was taken by a transaction that is not ours`)
  observe?.({ kind: 'superseded' })
  const works = [...tx.works.values()]
  tx.works.clear()
  for (const work of works) requeue(core, work)
  if (tx.row.lost.length === 0) core.open.delete(id)
  for (const place of tx.row.lost) restore(core, tx, place)
}

/** Limit of doublings of the resend interval. */
const MAX_DOUBLINGS = 4
/** A transaction that is in none of this many new blocks is resent. */
const PATIENT_BLOCKS = 3
/** After more resends than this, a fee is raised even if it is sufficient. */
const PATIENT_SENDS = 3
/** Limit of signed versions per nonce. */
const MAX_SENDS = 24

/** Raises a transaction's fees if needed. @returns whether to resend the transaction */
async function replaceOrResend(core: Core, tx: OpenTx): Promise<boolean> {
  const { timings, wall, observe } = core.options
  const patience = timings.resendMs * 2 ** Math.min(tx.resends, MAX_DOUBLINGS)
  const blocks = (core.head?.number ?? 0) - tx.sentHead
  const market = { baseFee: core.head?.baseFee ?? 0n, tip: core.tip }
  const last = tx.row.sends.at(-1)
  if (!last) return false
  const offered = { maxFee: last.max_fee, tip: last.tip }
  const isDue = wall() - tx.sentAt >= patience || blocks >= PATIENT_BLOCKS
  if (!isEnough(offered, market)) core.stuck ||= raisedFees(offered, market, core.options.maxFee) === undefined
  if (!isDue) return false
  tx.resends += 1
  const isPassedBy = tx.resends > PATIENT_SENDS && blocks >= PATIENT_BLOCKS
  if ((!isEnough(offered, market) || isPassedBy) && (await replace(core, tx))) {
    core.counts.replaced += 1
    observe?.({ kind: 'replaced' })
    return true
  }
  core.counts.resent += 1
  observe?.({ kind: 'resent' })
  return true
}

/** Stores a replacement: same nonce and call data, fees at least 1/8 higher. @returns false if a limit forbids it */
async function replace(core: Core, tx: OpenTx): Promise<boolean> {
  const { store, chainId, maxFee, wall } = core.options
  const { row } = tx
  const { signer } = senderOf(core, row.signer)
  const last = row.sends.at(-1)
  // A signer that fails would hold up the reads of receipts.
  if (!last || row.sends.length >= MAX_SENDS || signer.fault?.() !== undefined) return false
  const market = { baseFee: core.head?.baseFee ?? 0n, tip: core.tip }
  const fees = raisedFees({ maxFee: last.max_fee, tip: last.tip }, market, maxFee)
  if (!fees) return false
  const { nonce, to, data, gas } = row
  const signed = await signTransaction(signer, {
    chainId,
    nonce,
    to,
    data,
    gas,
    ...compact({ value: row.value }),
    ...fees,
  })
  const send = { ...signed, max_fee: fees.maxFee, tip: fees.tip, at: wall() }
  tx.row = await store.tx((t) =>
    t.table(chainTxs).update(row.id, row.version, { sends: [...row.sends, send], updated_at: wall() }),
  )
  tx.resends = 0
  await pass(core, 'replacement_stored')
  return true
}

/** Head polling interval while a send is unanswered. */
const REPLY_MS = 100
/** Interval between reads of a wallet's nonce. */
const COUNT_MS = 400
/** Longest interval between receipt reads. */
const RECEIPTS_MS = 500
/** How long a nonce must appear as used by another transaction before our transaction for it is given up. */
const DOUBT_MS = 1_000
const RETRY_MS = 100
/** Delay between a send and the first read of receipts. It adapts to nodes that mine instantly. */
const FIRST_LOOK = { mostMs: 50, laterMs: 2, soonerMs: 0.25 } as const

/** Polls the chain while transactions are open, until the queue closes. */
export async function runWatch(core: Core): Promise<void> {
  while (!isClosed(core)) {
    await untilDue(core)
    if (isClosed(core)) return
    try {
      if (lookPause(core) === 0) await look(core)
      if (followPause(core) === 0) await follow(core)
      if (watchedPause(core) === 0) await watchReversed(core)
    } catch (error) {
      core.dirty = true
      noteError(core, error)
      await core.watch.wait(RETRY_MS)
    }
  }
}

async function untilDue(core: Core): Promise<void> {
  const pauseOf = () => Math.min(lookPause(core), followPause(core), watchedPause(core))
  for (let pause = pauseOf(); !isClosed(core) && pause > 0; pause = pauseOf()) {
    await core.watch.wait(pause === Infinity ? undefined : pause)
  }
}

/** Milliseconds until the next check of unmined transactions; `Infinity` if there are none. */
function lookPause({ options: { timings, wall }, flying, dirty, dueAt, unanswered, askedAt }: Core): number {
  if (flying.size === 0) return Infinity
  const poll = unanswered > 0 ? Math.max(timings.pollMs, REPLY_MS) : timings.pollMs
  return Math.max(0, (dirty ? dueAt : askedAt + poll) - wall())
}

/** Milliseconds until the next check of included transactions. */
function followPause({ options: { timings, wall }, open, followedAt }: Core): number {
  return open.size === 0 ? Infinity : Math.max(0, followedAt + timings.followMs - wall())
}

/** Milliseconds until the next check of `watched` transfers. */
function watchedPause({ options: { timings, wall }, watched, watchedAt }: Core): number {
  return watched.size === 0 ? Infinity : Math.max(0, watchedAt + timings.followMs - wall())
}

/** Reads the head. Also reads receipts if the head is new, after a send, or after `RECEIPTS_MS`. */
async function look(core: Core): Promise<void> {
  const { rpc, wall } = core.options
  core.askedAt = wall()
  if (!core.dirty && wall() - core.lookedAt < RECEIPTS_MS) {
    const { head } = await rpc.read([])
    if (head.hash === core.looked) return
  }
  const isFirst = core.dirty
  core.dirty = false
  const flying = inFlight(core)
  const hashes = flying.flatMap(({ row }) => row.sends.map(({ hash }) => hash))
  const isCounted = core.isMissing && wall() - core.countedAt >= COUNT_MS
  const signers = isCounted ? [...new Set(flying.map(({ row }) => row.signer))] : []
  const { head, answers } = await rpc.read([
    ...hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    ...signers.map((signer) => ({ method: 'eth_getTransactionCount', params: [signer, 'latest'] })),
  ])
  const receipts = answers.slice(0, hashes.length)
  let at = 0
  const seen = flying.map((tx) => {
    const from = at
    at += tx.row.sends.length
    return { tx, answers: receipts.slice(from, at) }
  })
  seeHead(core, head)
  await included(core, seen)
  core.isMissing = flying.some(({ row }) => row.state === 'signed')
  if (isFirst) core.firstLookMs = nextFirstLook(core)
  if (isCounted) core.countedAt = wall()
  for (const [place, signer] of signers.entries()) {
    const count = answers[hashes.length + place]
    const own = seen.filter(({ tx }) => tx.row.signer === signer)
    if (count?.ok) await doubt(core, own, numberIn(count.result))
  }
  await late(core)
  // Set this after all reads. If it were set earlier, a failed read would wait for the next block.
  core.looked = head.hash
  core.lookedAt = wall()
}

function nextFirstLook({ firstLookMs, isMissing }: Core): number {
  const { mostMs, laterMs, soonerMs } = FIRST_LOOK
  return isMissing ? Math.min(mostMs, firstLookMs + laterMs) : Math.max(0, firstLookMs - soonerMs)
}

type Seen = { readonly tx: OpenTx; readonly answers: readonly RpcAnswer[] }

async function included(core: Core, seen: readonly Seen[]): Promise<void> {
  const found = seen.flatMap(({ tx, answers }) => {
    const receipt = answers.map((answer) => (answer.ok ? receiptIn(answer.result) : undefined)).find(Boolean)
    return receipt && tx.row.sends.some(({ hash }) => hash === receipt.hash) ? [{ tx, receipt }] : []
  })
  if (found.length > 0) await include(core, found)
}

/** Gives up nonces that another sender used. First waits, because nodes count transactions before showing receipts. */
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

/** Limit of rows that become final in one write. */
const MAX_AT_ONCE = 500

/** Checks that transactions are still in their blocks, resends reorged ones, and stops following final ones. */
async function follow(core: Core): Promise<void> {
  const { rpc, finality, wall } = core.options
  const kept = [...core.open.values()].filter(({ row }) => row.included !== null && row.state !== 'superseded')
  core.followedAt = wall()
  if (kept.length === 0) return
  const { canon } = core
  const places = [...new Set([finality.confirmed, finality.final, ...(canon ? [canon.number] : [])])].filter(isAsked)
  const { head, answers } = await rpc.read(places.map(block))
  seeHead(core, head)
  const blocks = new Map(places.map((place, at) => [place, answers[at]]))
  const isSame = canon !== undefined && headOf(blocks.get(canon.number))?.hash === canon.hash
  for (const tx of kept) if (!isSame) tx.isFollowed = false
  if (!(await lookAgain(core, kept, head))) return
  core.canon = head
  const still = kept.filter(({ row, isFollowed }) => row.included !== null && isFollowed)
  await stage(core, still, {
    confirmed: heightOf(core, finality.confirmed, { answer: blocks.get(finality.confirmed), head }),
    final: heightOf(core, finality.final, { answer: blocks.get(finality.final), head }),
  })
}

/** Whether a block must be requested. Every read returns the latest block, so that one is not requested. */
function isAsked(place: BlockTag | number): boolean {
  return place !== 'latest'
}

/** Number of the last block with this finality; -1 if the node does not say. */
function heightOf(
  { tags }: Core,
  tag: BlockTag,
  { answer, head }: { answer: RpcAnswer | undefined; head: Head },
): number {
  if (tag === 'latest') return head.number
  const told = tags.read(tag, answer, head)
  return typeof told === 'object' ? told.number : (told ?? -1)
}

function block(tag: BlockTag | number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [typeof tag === 'number' ? quantity(tag) : tag, false] }
}

function headOf(answer: RpcAnswer | undefined): Head | undefined {
  return answer?.ok && answer.result ? headIn(answer.result) : undefined
}

/**
 * Compares the blocks of transactions with the known heads or the node. Reads receipts again if a block has changed.
 * @returns whether all could be checked
 */
async function lookAgain(core: Core, kept: readonly OpenTx[], head: Head): Promise<boolean> {
  const unseen = kept.filter(({ isFollowed }) => !isFollowed)
  const line = lineOf(core, head)
  const numbers = [...new Set(unseen.flatMap(({ row }) => row.included?.block ?? []))]
  const asked = numbers.filter((number) => !line.has(number))
  if (numbers.length === 0) return true
  const { answers } = asked.length === 0 ? { answers: [] } : await core.options.rpc.read(asked.map(block))
  const hashes = new Map<number, Hex | undefined>([
    ...line,
    ...asked.map((number, at) => [number, headOf(answers[at])?.hash] as const),
  ])
  const doubtful: OpenTx[] = []
  for (const tx of unseen) {
    const { included } = tx.row
    if (included && hashes.get(included.block) === included.block_hash) tx.isFollowed = included.block <= head.number
    else doubtful.push(tx)
  }
  return doubtful.length === 0 || (await findAgain(core, doubtful, head))
}

/** Reads the receipts of transactions whose block has changed. @returns whether every receipt could be read */
async function findAgain(core: Core, doubtful: readonly OpenTx[], head: Head): Promise<boolean> {
  const calls = doubtful.flatMap(({ row }) =>
    row.sends.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  const { answers } = await core.options.rpc.read(calls)
  if (answers.some((answer) => !answer.ok)) return false
  const moved: Found[] = []
  const gone: OpenTx[] = []
  let at = 0
  for (const tx of doubtful) {
    const own = answers.slice(at, at + tx.row.sends.length)
    at += tx.row.sends.length
    const receipt = own.map((answer) => (answer.ok ? receiptIn(answer.result) : undefined)).find(Boolean)
    if (!receipt) gone.push(tx)
    else if (receipt.blockHash !== tx.row.included?.block_hash) moved.push({ tx, receipt })
    else tx.isFollowed = receipt.block <= head.number
  }
  if (moved.length > 0) await include(core, moved)
  if (gone.length > 0) await sendAgain(core, gone)
  return true
}

/** Resends reorged transactions unchanged, in order of nonce. Their rows keep the settlements that were reported. */
async function sendAgain(core: Core, gone: readonly OpenTx[]): Promise<void> {
  const { store, wall, observe } = core.options
  await store.tx(async (t) => {
    for (const tx of gone) {
      const change: Partial<ChainTxRow> = { state: 'signed', included: null, mined: undefined, updated_at: wall() }
      tx.row = await t.table(chainTxs).update(tx.row.id, tx.row.version, change)
    }
  })
  for (const tx of gone.toSorted((a, b) => a.row.nonce - b.row.nonce)) {
    core.flying.add(tx)
    core.counts.reorged += 1
    core.reorgedAt = wall()
    observe?.({ kind: 'reorged' })
    tx.resends = 0
    transmit(core, tx)
  }
}

type Stages = { readonly confirmed: number; readonly final: number }

async function stage(core: Core, kept: readonly OpenTx[], stages: Stages): Promise<void> {
  const { store, wall, timings } = core.options
  const at = (tx: OpenTx): number => tx.row.included?.block ?? Infinity
  const isFinal = (tx: OpenTx): boolean =>
    at(tx) <= stages.final && tx.row.lost.length === 0 && wall() - (tx.row.included?.at ?? 0) >= timings.keepMs
  const confirmed = kept.filter((tx) => at(tx) <= stages.confirmed && tx.row.state === 'included')
  const final = kept.filter(isFinal).slice(0, MAX_AT_ONCE)
  if (confirmed.length + final.length === 0) return
  await store.tx(async (t) => {
    const table = t.table(chainTxs)
    for (const tx of confirmed) {
      tx.row = await table.update(tx.row.id, tx.row.version, { state: 'confirmed', updated_at: wall() })
    }
    for (const tx of final) tx.row = await table.update(tx.row.id, tx.row.version, finalRow(tx.row, wall()))
  })
  for (const tx of [...confirmed, ...final]) tx.confirmed.resolve()
  for (const tx of final) core.open.delete(tx.row.id)
  for (const _ of confirmed) core.options.observe?.({ kind: 'confirmed' })
  for (const _ of final) core.options.observe?.({ kind: 'final' })
}

/** Removes the signed bytes from a row that becomes final. */
export function finalRow(row: ChainTxRow, at: number): Partial<ChainTxRow> {
  return {
    state: 'final',
    open: undefined,
    data: '0x',
    items: row.items.map((item) => ({ ...item, signature: '0x' })),
    sends: row.sends.map((send) => ({ ...send, raw: null })),
    updated_at: at,
  }
}
