import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../src/core/error.ts'
import { paymentWindows, quoteWindowSeconds } from '../../../src/core/limits.ts'
import type { Usdc } from '../../../src/core/money.ts'
import { SECOND_MS } from '../../../src/core/time.ts'

/*
 * A quoted price is binding (decisions §4). After an edit, the old price or terms stay valid next to the new ones, for
 * as long as a 402 can be paid. The edited row stores the old version, so quotes need no records.
 */

/** How long a replaced version can still be bought. Measured in wall time, as in the payment protocol. */
export const QUOTE_WINDOW_MS = quoteWindowSeconds * SECOND_MS

/** A replaced version, and until when it can be bought. */
export type Previous<V> = {
  readonly version: V
  /** Wall time, epoch milliseconds; exclusive. */
  readonly until: number
}

/** Whether the previous version can still be bought. An overlong window (clock set back) counts as closed. */
function isOpen({ until }: Previous<unknown>, wall: number): boolean {
  return until > wall && until - wall <= QUOTE_WINDOW_MS
}

/** The previous version of a listing, while it can still be bought. */
export function stillGood<V>(previous: Previous<V> | undefined, wall: number): V | undefined {
  return previous && isOpen(previous, wall) ? previous.version : undefined
}

type Edit<V> = {
  readonly before: V
  readonly after: V
  readonly previous: Previous<V> | undefined
  /** Wall time. */
  readonly wall: number
}

/**
 * The quote window after an edit. An edit without changes keeps the current window.
 * @throws AppError 409 with `Retry-After` for a second edit within a window, because that would need a third version.
 */
export function windowAfter<V>({ before, after, previous, wall }: Edit<V>): Previous<V> | undefined {
  if (isDeepStrictEqual(before, after)) return previous
  if (!previous || !isOpen(previous, wall)) return { version: before, until: wall + QUOTE_WINDOW_MS }
  const retryAfter = Math.ceil((previous.until - wall) / SECOND_MS)
  throw new AppError(
    'conflict',
    `Price or terms changed recently, and earlier quotes are still valid: edit again in ${retryAfter} s.`,
    { retryAfter },
  )
}

/** How a request pays. This also shows which version of the offer the buyer was quoted. */
export type Tender =
  /** The request only asks for the price. */
  | { readonly kind: 'none' }
  /** `maxTimeoutSeconds` is that of the accepted offer, if the payment includes the offer. */
  | { readonly kind: 'signed'; readonly value: bigint; readonly maxTimeoutSeconds?: number | undefined }
  | { readonly kind: 'balance' }

/** Price of one version of an offer, and when the money moves. */
export type QuoteWindow = { readonly price: Usdc; readonly settle: keyof typeof paymentWindows }

/** Both versions of an offer; undefined if not available. */
export type Offers<O extends QuoteWindow> = { readonly before: O | undefined; readonly today: O | undefined }

/**
 * The version to buy. Without a payment: today's version. For a signed payment: the version with that price. For a
 * balance payment: the cheaper version. If both fit: the old one, because the buyer may not know the new one.
 */
export function chosenOffer<O extends QuoteWindow>({ before, today }: Offers<O>, tender: Tender): O | undefined {
  if (!before || tender.kind === 'none') return today
  if (tender.kind === 'balance') return !today || before.price <= today.price ? before : today
  const priced = [before, today].filter((offer) => offer?.price === tender.value)
  return priced.find((offer) => offer && isOfTimeout(offer, tender.maxTimeoutSeconds)) ?? priced[0] ?? today
}

function isOfTimeout({ settle }: QuoteWindow, seconds: number | undefined): boolean {
  return seconds === undefined || paymentWindows[settle].maxTimeoutSeconds === seconds
}
