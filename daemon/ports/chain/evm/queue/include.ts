import { compact } from '../../../../../src/core/record.ts'
import { type Core, type OpenTx, pass, type QueueWork } from './core.ts'
import { called, requeue, settled } from './outcome.ts'
import { movementIn, type Receipt } from './receipt.ts'
import { restore } from './reversal.ts'
import { type ChainTxRow, chainTxs } from './rows.ts'

/** Weight of the latest transaction in the smoothed time to inclusion. */
const LATEST_SHARE = 0.2

export type Found = { readonly tx: OpenTx; readonly receipt: Receipt }

/** Stores in which blocks transactions were included, then reports the outcome of each order in them. */
export async function include(core: Core, found: readonly Found[]): Promise<void> {
  const { store } = core.options
  await pass(core, 'included')
  await store.tx(async (t) => {
    for (const { tx, receipt } of found) {
      tx.row = await t.table(chainTxs).update(tx.row.id, tx.row.version, changes(core, tx.row, receipt))
    }
  })
  for (const { tx } of found) core.flying.delete(tx)
  await pass(core, 'done')
  for (const one of found) tellOne(core, one)
  core.pump.ring()
}

function changes(core: Core, row: ChainTxRow, receipt: Receipt): Partial<ChainTxRow> {
  const { finality, token, wall } = core.options
  const moved = row.items.flatMap((item, place) =>
    receipt.ok && movementIn(receipt.logs, token, item) === 'moved' ? [place] : [],
  )
  const undone = [...row.settled, ...row.lost].filter((place) => !moved.includes(place))
  return {
    state: finality.confirmed === 'latest' ? 'confirmed' : 'included',
    included: {
      hash: receipt.hash,
      block: receipt.block,
      block_hash: receipt.blockHash,
      ok: receipt.ok,
      at: wall(),
      ...compact({ cost_wei: receipt.costWei }),
    },
    mined: receipt.hash,
    settled: moved,
    lost: [...new Set(undone)],
    updated_at: wall(),
  }
}

function tellOne(core: Core, { tx, receipt }: Found): void {
  const { wall, observe, finality } = core.options
  const seconds = (wall() - tx.firstSentAt) / 1_000
  core.inclusionMs += (seconds * 1_000 - core.inclusionMs) * LATEST_SHARE
  observe?.({ kind: 'included', seconds, gasUsed: receipt.gasUsed, ok: receipt.ok })
  if (!receipt.ok && tx.row.items.length <= 1) {
    core.counts.failed += 1
    core.lastFailed = { at: wall(), id: tx.row.id }
  }
  tx.doubtAt = undefined
  tx.resends = 0
  tx.isFollowed = false
  if (finality.confirmed === 'latest') tx.confirmed.resolve()
  const works = [...tx.works]
  tx.works.clear()
  for (const place of tx.row.lost) restore(core, tx, place)
  for (const [place, work] of works) tellWork(core, { tx, receipt, place, work })
}

type InclusionNotification = Found & { readonly place: number; readonly work: QueueWork }

function tellWork(core: Core, { tx, receipt, place, work }: InclusionNotification): void {
  const { hash: transaction, logs } = receipt
  if (work.kind === 'call') {
    if (receipt.ok) called(core, work, { ok: true, transaction, already: false, logs })
    else called(core, work, { ok: false, failure: 'reverted', sent: true, transaction })
    return
  }
  if (tx.row.settled.includes(place)) {
    settled(core, work, { transaction, already: false })
    return
  }
  // Retry the transfer alone, so that it cannot make other transfers fail. Its simulation then shows why it fails.
  work.tries += tx.row.items.length > 1 ? 1 : 2
  work.alone = true
  requeue(core, work)
}
