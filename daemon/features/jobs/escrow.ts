import { AppError } from '../../../src/core/error.ts'
import { formatAmount, type Usdc, ZERO } from '../../../src/core/money.ts'
import { at as element } from '../../../src/core/record.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { isTaken } from '../escrow/deal.ts'
import { type Escrowed, legsOf, type Refunded, refundAccount } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { bearers, dividedLoss, withhold } from '../payments/reversed.ts'
import { payments } from '../payments/rows.ts'
import { openRefund, recallRefund } from '../payouts/payouts.ts'
import { referrersOf } from '../referrals/referrals.ts'
import type { JobTransition } from './machine.ts'
import type { JobRow } from './rows.ts'

type EscrowStatus = JobRow['escrow_status']
type Move = { readonly job: JobRow; readonly at: number; readonly toBuyer?: Usdc | undefined }

/** Moves a job's held money as its transition says (decisions §5, ledger postings). @returns the new escrow status */
export async function moveEscrow(
  t: Tx,
  draw: Draw,
  { arrow, ...move }: Move & { readonly arrow: JobTransition },
): Promise<EscrowStatus> {
  const effects: readonly string[] = arrow.effects
  if (move.job.escrow_status !== 'held') return move.job.escrow_status
  if (effects.includes('leave')) return leave(t, draw, move)
  if (ends.some((end) => effects.includes(end)) && (await isTaken(t, move.job.id))) throw takenElsewhere()
  if (effects.includes('refund')) return refund(t, draw, move)
  if (effects.includes('release')) return release(t, draw, move)
  if (effects.includes('split')) return divide(t, draw, move)
  return 'held'
}

const ends = ['refund', 'release', 'split'] as const

/** Error for money that an external call released. If a reorganisation drops that call's block, the money is back. */
function takenElsewhere(): AppError {
  const sentence =
    'An external call released the funds of this job from the escrow contract: wait until that call is final.'
  return new AppError('conflict', sentence)
}

async function refund(t: Tx, draw: Draw, { job, at }: Move): Promise<EscrowStatus> {
  const buyer = await buyerOf(t, job)
  const legs = legsOf.escrowRefund({ jobId: job.id, buyer, amount: job.amount })
  await post(t, draw, { kind: 'refund', ref: refOf(job), legs, at })
  if ('reversed' in buyer) await withhold(t, job.payment_id, job.amount)
  await payBack(t, draw, { job, at })
  return 'refunded'
}

async function release(t: Tx, draw: Draw, { job, at }: Move): Promise<EscrowStatus> {
  const legs = legsOf.escrowRelease(await escrowedOf(t, job))
  await post(t, draw, { kind: 'escrow_release', ref: refOf(job), legs, at })
  return 'released'
}

async function divide(t: Tx, draw: Draw, { job, at, toBuyer }: Move): Promise<EscrowStatus> {
  if (toBuyer === undefined) throw new Error(`${job.id}: the split has no buyer share`)
  const buyer = await buyerOf(t, job)
  const legs = legsOf.disputeSplit({ ...(await escrowedOf(t, job)), buyer, toBuyer })
  if ('reversed' in buyer) await withhold(t, job.payment_id, toBuyer)
  await post(t, draw, { kind: 'dispute_split', ref: refOf(job), legs, at })
  if (toBuyer > 0n) await payBack(t, draw, { job, at })
  return 'split'
}

/** Posts the refund that the contract has paid to the buyer. The money thereby leaves the books. */
async function leave(t: Tx, draw: Draw, { job, at }: Move): Promise<EscrowStatus> {
  const legs = legsOf.escrowLeft({ jobId: job.id, amount: job.amount })
  await post(t, draw, { kind: 'refund', ref: refOf(job), legs, at })
  return 'refunded'
}

/**
 * Records in the books that the contract paid the buyer, after the books had closed the hold. The money comes first
 * from what the books owe the buyer, then from the marketplace.
 * @throws Error if the marketplace's own accounts do not cover the rest
 */
export async function leaveAfterEnd(t: Tx, draw: Draw, { job, at }: Move): Promise<void> {
  const owed = owedAfter(job)
  const isWallet = job.payment_method === 'x402' && owed > 0n
  if (isWallet) await recallRefund(t, draw, { wallet: job.buyer_wallet, amount: owed, at })
  const home = refundAccount(await buyerOf(t, job))
  const balances = await Promise.all([home, ...bearers].map((name) => balanceOf(t, name)))
  const [there = ZERO, ...own] = balances
  const sources = own.map((balance, n) => ({ from: element(bearers, n), balance }))
  const { parts, uncovered } = dividedLoss(job.amount, [
    { from: home, balance: there < owed ? there : owed },
    ...sources,
  ])
  if (uncovered > 0n) {
    throw new Error(
      `the contract paid ${job.id} a second time: the marketplace lacks $${formatAmount(uncovered)} for it`,
    )
  }
  await post(t, draw, { kind: 'reversal', ref: refOf(job), legs: parts.flatMap(legsOf.reversal), at })
  if (isWallet) await payBack(t, draw, { job, at })
}

/** What the books owe the buyer after the hold has ended. */
function owedAfter({ escrow_status: escrow, amount, dispute }: JobRow): Usdc {
  if (escrow === 'split') return dispute?.buyer_amount ?? ZERO
  return escrow === 'refunded' ? amount : ZERO
}

/** Opens the payout of a refund to the buyer's wallet (decisions §4). A payment by balance needs no payout. */
async function payBack(t: Tx, draw: Draw, { job, at }: Move): Promise<void> {
  if (job.payment_method === 'x402') await openRefund(t, draw, { wallet: job.buyer_wallet, ref: refOf(job), at })
}

/** Who gets a refund: the payer, or the marketplace if the chain has reverted the payment. */
async function buyerOf(t: ReadTx, job: JobRow): Promise<Refunded> {
  const payment = await t.table(payments).get(job.payment_id)
  if (payment?.state === 'reversed') return { reversed: true }
  if (job.payment_method === 'x402') return { wallet: job.buyer_wallet }
  if (job.buyer_id === null) throw new Error(`${job.id} was paid from a balance without an owner`)
  return { participantId: job.buyer_id }
}

async function escrowedOf(t: ReadTx, job: JobRow): Promise<Escrowed> {
  return {
    jobId: job.id,
    providerId: job.provider_id,
    split: { agent: job.amount, net: job.provider_amount, fee: job.fee },
    referrers: await referrersOf(t, { buyer: { wallet: job.buyer_wallet }, providerId: job.provider_id }),
  }
}

export function refOf(job: JobRow) {
  return { kind: 'job', id: job.id }
}
