import { formatAmount, type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import { type Dispute, endings, type Ruling } from '../../../src/model/job.ts'
import type { JobRow } from './rows.ts'

/** Who ends an open dispute, and when. With `at` null, the operator ends it at any time. */
export type Decider = {
  readonly by: 'operator' | 'default'
  readonly outcome: Ruling | null
  readonly at: number | null
}

export function deciderOf(dispute: Dispute | null): Decider | null {
  if (dispute?.status !== 'open') return null
  const set = dispute.by_default
  return set ? { by: 'default', outcome: set.outcome, at: set.at } : { by: 'operator', outcome: null, at: null }
}

/** A sentence for both parties that says who ends an open dispute, and when. */
export function deciderSentence(decider: Decider): string {
  if (decider.outcome === null || decider.at === null) {
    return 'The marketplace operator decides; the payment is held until then, without a time limit.'
  }
  return `If the operator does not decide before ${new Date(decider.at).toISOString()}, ${endings[decider.outcome]}.`
}

/** The buyer's part if the default ruling is a split. */
export function halfOf(amount: Usdc): Usdc {
  return usdc(amount / 2n)
}

/** Says that a dispute moves no money, and what else it does: `is` once it is recorded, `would be` before that. */
export function recordedSentence({ amount, escrow_status, status }: JobRow, is: 'is' | 'would be'): string {
  const effect = is === 'is' ? 'It is recorded and counts' : 'It would only be recorded, and count'
  return `This dispute moves no money: ${whereMoneyIs()}. ${effect} in reputation.`

  function whereMoneyIs(): string {
    if (amount === ZERO) return 'nothing was paid for this job'
    const price = `$${formatAmount(amount)}`
    if (escrow_status === 'refunded') return `${price} was refunded to the buyer`
    if (status === 'verified') return `the delivery was verified, and ${price} goes to the provider`
    return `${price} was released to the provider`
  }
}
