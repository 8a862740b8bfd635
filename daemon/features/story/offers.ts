import { MINUTE_MS } from '../../../src/core/time.ts'
import type { LoggedRequest } from './request-log.ts'

/** A price that was asked for so long before it was paid has nothing to do with that. */
const OFFER_AGE_MS = 10 * MINUTE_MS

/** Which request asked a buyer for the price that another one paid, or tried to. */
export type OfferOf = (request: LoggedRequest) => LoggedRequest | undefined

/** A 402 that refuses a payment is no offer: it is a try of its own, and has one before it. */
function isOffer({ status, code }: LoggedRequest): boolean {
  return status === 402 && code === 'payment_required'
}

function isTry(request: LoggedRequest): boolean {
  const paid = request.payment !== null || (request.status === 402 && !isOffer(request))
  return paid && !request.remade
}

/** By who they say they are, or by the key that goes with all attempts; of somebody who says neither it stays unsaid. */
function buyerOf({ caller, attempt }: LoggedRequest): string | undefined {
  if (caller !== null) return `caller ${caller}`
  return attempt === null ? undefined : `attempt ${attempt}`
}

/** Looks through the offers of a log once, for all the requests that are asked about. */
export function offersIn(entries: readonly LoggedRequest[]): OfferOf {
  let known: ReadonlyMap<string, readonly LoggedRequest[]> | undefined
  return (request) => {
    if (!isTry(request)) return undefined
    known ??= byBuyer(entries)
    const { caller, attempt, path } = request
    // An offer that says who asked is theirs alone; one that does not may still carry the key of the attempt.
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
