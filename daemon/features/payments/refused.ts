import type { Refusal } from './offer.ts'

/** A payment that was refused: the caller gets a 402 with the reason. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused'
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.fault ?? refusal.code ?? 'refused')
    this.refusal = refusal
  }
}
