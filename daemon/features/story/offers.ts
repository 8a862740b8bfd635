import { MINUTE_MS } from '../../../src/core/time.ts'
import type { LoggedRequest } from './request-log.ts'

/** Maximum time between a 402 and the payment that answers it. */
const OFFER_AGE_MS = 10 * MINUTE_MS

/** Finds the earlier 402 that named the price which `request` paid or tried to pay; undefined if unknown. */
export type OfferOf = (request: LoggedRequest) => LoggedRequest | undefined

/** A 402 that refuses a payment responds to an attempt to pay, so it is no offer. */
function isOffer({ status, code }: LoggedRequest): boolean {
  return status === 402 && code === 'payment_required'
}

function isTry(request: LoggedRequest): boolean {
  const paid = request.payment !== null || (request.status === 402 && !isOffer(request))
  return paid && !request.remade
}

/** The caller of a request; for an anonymous buyer, its idempotency key; undefined if unknown. */
function buyerOf({ caller, attempt }: LoggedRequest): string | undefined {
  if (caller !== null) return `caller ${caller}`
  return attempt === null ? undefined : `attempt ${attempt}`
}

/** Indexes the offers in a log on first use, for all later lookups. */
export function offersIn(entries: readonly LoggedRequest[]): OfferOf {
  let known: ReadonlyMap<string, readonly LoggedRequest[]> | undefined
  return (request) => {
    if (!isTry(request)) return undefined
    known ??= byBuyer(entries)
    const { caller, attempt, path } = request
    // Look for an offer to the caller, and for an anonymous offer with the idempotency key.
    const buyers = [
      { caller, attempt },
      { caller: null, attempt },
    ].flatMap((one) => buyerOf({ ...request, ...one }) ?? [])
    const found = buyers.flatMap(
      (buyer) => known?.get(`${path} ${buyer}`)?.findLast((one) => isBefore(one, request)) ?? [],
    )
    return found.toSorted((one, other) => other.at - one.at)[0]
  }
}

function isBefore(offer: LoggedRequest, { at }: LoggedRequest): boolean {
  return offer.at <= at && offer.at >= at - OFFER_AGE_MS
}

function byBuyer(entries: readonly LoggedRequest[]): ReadonlyMap<string, readonly LoggedRequest[]> {
  const known = new Map<string, LoggedRequest[]>()
  for (const entry of entries) {
    const buyer = isOffer(entry) ? buyerOf(entry) : undefined
    if (buyer === undefined) continue
    const key = `${entry.path} ${buyer}`
    const before = known.get(key)
    if (before) before.push(entry)
    else known.set(key, [entry])
  }
  return known
}
