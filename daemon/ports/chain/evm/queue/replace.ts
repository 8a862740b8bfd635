import { type Core, type OpenTx, pass } from './core.ts'
import { isEnough, raisedFees } from './fees.ts'
import { chainTxs } from './rows.ts'

/** Doublings of the time between two sends of the same bytes. */
const MAX_DOUBLINGS = 4
/** Blocks that passed it by before it is sent again. */
const PATIENT_BLOCKS = 3
/** Sends of the same bytes before a higher fee is tried although the one offered should do. */
const PATIENT_SENDS = 3
/** Hashes that are watched for one nonce. */
const MAX_SENDS = 24

/** Whether the bytes of a transaction are to be sent again; with higher fees first where today's are above its own. */
export async function replaceOrResend(core: Core, tx: OpenTx): Promise<boolean> {
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

/** The same nonce and call at fees an eighth higher, stored before it is sent. */
async function replace(core: Core, tx: OpenTx): Promise<boolean> {
  const { store, signer, chainId, maxFee, wall } = core.options
  const { row } = tx
  const last = row.sends.at(-1)
  if (!last || row.sends.length >= MAX_SENDS) return false
  const market = { baseFee: core.head?.baseFee ?? 0n, tip: core.tip }
  const fees = raisedFees({ maxFee: last.max_fee, tip: last.tip }, market, maxFee)
  if (!fees) return false
  const { nonce, to, data, gas } = row
  const signed = signer.transaction({ chainId, nonce, to, data, gas, ...fees })
  const send = { ...signed, max_fee: fees.maxFee, tip: fees.tip, at: wall() }
  tx.row = await store.tx((t) =>
    t.table(chainTxs).update(row.id, row.version, { sends: [...row.sends, send], updated_at: wall() }),
  )
  tx.resends = 0
  await pass(core, 'replacement_stored')
  return true
}
