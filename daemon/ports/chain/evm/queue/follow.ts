import type { RpcAnswer, RpcCall } from '../rpc/endpoint.ts'
import { type Head, headIn, quantity } from '../rpc/values.ts'
import { transmit } from './assign.ts'
import type { BlockTag, Core, OpenTx } from './core.ts'
import { type Found, include } from './include.ts'
import { receiptIn } from './receipt.ts'
import { type ChainTxRow, chainTxs } from './rows.ts'

/** What counts as safe and as final where the node does not say: blocks below the head. */
const DEPTHS: Readonly<Record<BlockTag, number>> = { latest: 0, safe: 150, finalized: 900 }
/** Rows that become final in one write. */
const MAX_AT_ONCE = 500

/** Looks whether what is included still is, sends again what is not, and lets go of what is final. */
export async function follow(core: Core): Promise<void> {
  const { rpc, finality, wall } = core.options
  const kept = [...core.open.values()].filter(({ row }) => row.included !== null && row.state !== 'superseded')
  core.followedAt = wall()
  if (kept.length === 0) return
  const { canon } = core
  const calls = [block(finality.confirmed), block(finality.final), ...(canon ? [block(canon.number)] : [])]
  const { head, answers } = await rpc.read(calls)
  const [confirmed, final, same] = answers
  const isSame = canon !== undefined && headOf(same)?.hash === canon.hash
  for (const tx of kept) if (!isSame) tx.isFollowed = false
  if (!(await lookAgain(core, kept, head))) return
  core.canon = head
  const still = kept.filter(({ row, isFollowed }) => row.included !== null && isFollowed)
  await stage(core, still, {
    confirmed: headOf(confirmed)?.number ?? head.number - DEPTHS[finality.confirmed],
    final: headOf(final)?.number ?? head.number - DEPTHS[finality.final],
  })
}

function block(tag: BlockTag | number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [typeof tag === 'number' ? quantity(tag) : tag, false] }
}

function headOf(answer: RpcAnswer | undefined): Head | undefined {
  return answer?.ok && answer.result ? headIn(answer.result) : undefined
}

/** Whether each of them could be looked at: first whether its block is still there, then where it is now. */
async function lookAgain(core: Core, kept: readonly OpenTx[], head: Head): Promise<boolean> {
  const unseen = kept.filter(({ isFollowed }) => !isFollowed)
  const numbers = [...new Set(unseen.flatMap(({ row }) => row.included?.block ?? []))]
  if (numbers.length === 0) return true
  const { answers } = await core.options.rpc.read(numbers.map(block))
  const hashes = new Map(numbers.map((number, at) => [number, headOf(answers[at])?.hash]))
  const doubtful: OpenTx[] = []
  for (const tx of unseen) {
    const { included } = tx.row
    if (included && hashes.get(included.block) === included.block_hash) tx.isFollowed = included.block <= head.number
    else doubtful.push(tx)
  }
  return doubtful.length === 0 || (await findAgain(core, doubtful, head))
}

/** Whether every receipt could be read. */
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

/** The chain undid them: the same bytes again, in order. What was told of them stays in their rows. */
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

/** Nobody sends it again: only what it was is kept, not its bytes. */
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
