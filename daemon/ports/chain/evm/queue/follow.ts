import type { Hex } from '../../../../../src/core/hex.ts'
import type { RpcAnswer, RpcCall } from '../rpc/endpoint.ts'
import type { BlockTag } from '../rpc/tags.ts'
import { type Head, headIn, quantity } from '../rpc/values.ts'
import { transmit } from './assign.ts'
import { type Core, lineOf, type OpenTx, seeHead } from './core.ts'
import { type Found, include } from './include.ts'
import { receiptIn } from './receipt.ts'
import { type ChainTxRow, chainTxs } from './rows.ts'

/** Limit of rows that become final in one write. */
const MAX_AT_ONCE = 500

/** Checks that transactions are still in their blocks, resends reorged ones, and stops following final ones. */
export async function follow(core: Core): Promise<void> {
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
  for (const tx of final) core.open.delete(tx.row.nonce)
  for (const _ of confirmed) core.options.observe?.({ kind: 'confirmed' })
  for (const _ of final) core.options.observe?.({ kind: 'final' })
}

/** Removes the signed bytes from a row that becomes final. */
function finalRow(row: ChainTxRow, at: number): Partial<ChainTxRow> {
  return {
    state: 'final',
    open: undefined,
    data: '0x',
    items: row.items.map((item) => ({ ...item, signature: '0x' })),
    sends: row.sends.map((send) => ({ ...send, raw: null })),
    updated_at: at,
  }
}
