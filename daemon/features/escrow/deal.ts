import { z } from 'zod'
import { StoredWallet } from '../../../src/core/codecs.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import type { Usdc } from '../../../src/core/money.ts'
import { keysOf } from '../../../src/core/record.ts'
import { settings } from '../../kernel/rows.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { actOf, followed } from './next-act.ts'
import { type DealRow, deals } from './rows.ts'

/** Settings key of the escrow contract. */
export const CONTRACT = 'escrow_contract'

const Contract = z.strictObject({ address: StoredWallet, pay_to: StoredWallet })
export type Contract = z.infer<typeof Contract>

/** The escrow contract; undefined if only the books hold money. */
export async function readContract(t: ReadTx): Promise<Contract | undefined> {
  const row = await t.table(settings).get(CONTRACT)
  return row && Contract.parse(row.value)
}

/** The members of a job from which its deal in the escrow contract is made. */
export type HeldJob = {
  readonly id: string
  readonly buyer: Wallet
  readonly net: Usdc
  readonly fee: Usdc
  /** Whether money was paid for the job. */
  readonly isHeld: boolean
  readonly created_at: number
} & Pick<DealRow, 'wants_deadline' | 'wants_closed' | 'wants_end' | 'to_buyer'>

/** Opens the deal of a new job in the job's transaction, so that the job's money goes to the contract. */
export async function openDeal(t: Tx, job: HeldJob): Promise<void> {
  if (!job.isHeld) return
  const contract = await readContract(t)
  if (!contract) return
  const { id, buyer, net, fee, created_at, isHeld: _, ...wants } = job
  const fresh = { state: 'none', deadline: null, covers: null, sent: false, closed: false, open: true } as const
  const unasked = { next_attempt_at: 0, attempts: 0, last_error: null, transactions: [] }
  const deal = { id, buyer, refund_to: contract.pay_to, net, fee, created_at, ...wants, ...fresh, ...unasked }
  await t.table(deals).insert(followed(deal))
}

/** Updates the deal of a changed job in the job's transaction. */
export async function updateDeal(t: Tx, job: HeldJob): Promise<void> {
  const deal = await t.table(deals).getForUpdate(job.id)
  if (!deal?.open) return
  const { wants_deadline, wants_closed, wants_end, to_buyer } = job
  const wants = { wants_deadline, wants_closed, wants_end, to_buyer }
  const changed = { ...deal, ...wants }
  if (actOf(changed) === 'drop') await t.table(deals).put(dropped(changed))
  else if (actOf(changed) !== actOf(deal)) await t.table(deals).put(anew(changed))
  else if (keysOf(wants).some((name) => deal[name] !== wants[name])) await t.table(deals).put(followed(changed))
}

export function dropped(deal: DealRow): DealRow {
  return followed({ ...deal, state: 'unused', open: false, last_error: null })
}

/** The deal with its next action due now, and its count of failed attempts reset. */
export function anew(deal: DealRow): DealRow {
  return followed({ ...deal, next_attempt_at: 0, attempts: 0, last_error: null })
}

/** Whether an external call released the job's money but is not final yet. The job cannot end before it is final. */
export async function isTaken(t: ReadTx, jobId: string): Promise<boolean> {
  return (await t.table(deals).get(jobId))?.taken !== undefined
}
