import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../src/core/error.ts'
import { paymentWindows, quoteWindowSeconds } from '../../../src/core/limits.ts'
import type { Usdc } from '../../../src/core/money.ts'
import { SECOND_MS } from '../../../src/core/time.ts'

/*
 * What was quoted is what is bought (decisions §4). Whoever was told a price has as long to pay it as a 402 gives at
 * most; a price or terms that are edited meanwhile stay good for that long, beside those that took their place. The
 * version before lies on the row that was edited, so that nothing has to be remembered of who asked.
 */

/** Wall time, as all of the payment protocol. */
export const QUOTE_WINDOW_MS = quoteWindowSeconds * SECOND_MS

/** A version that another one took the place of, and until when it can still be bought. */
export type Previous<V> = {
  readonly version: V
  /** Wall time, epoch milliseconds; exclusive. */
  readonly until: number
}

/** A clock that was set back must not keep a window open for longer than it ever lasts. */
function isOpen({ until }: Previous<unknown>, wall: number): boolean {
  return until > wall && until - wall <= QUOTE_WINDOW_MS
}

/** The version before today's while its window is open. */
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
 * The window that an edit opens; what says the same as before is no edit, and leaves the one that is there.
 * @throws AppError 409 with `Retry-After` for a second edit inside a window: a third version would have to be kept.
 */
export function windowAfter<V>({ before, after, previous, wall }: Edit<V>): Previous<V> | undefined {
  if (isDeepStrictEqual(before, after)) return previous
  if (!previous || !isOpen(previous, wall)) return { version: before, until: wall + QUOTE_WINDOW_MS }
  const retryAfter = Math.ceil((previous.until - wall) / SECOND_MS)
  throw new AppError(
    'conflict',
    `Price and terms were edited just now, and buyers may still pay what they were quoted before: edit again in ${retryAfter} s.`,
    { retryAfter },
  )
}

/** What a request brings to pay with, as far as it says which version its sender was quoted. */
export type Tender =
  /** It asks for the price. */
  | { readonly kind: 'none' }
  /** `maxTimeoutSeconds`: of the offer that was accepted, where the payment names it. */
  | { readonly kind: 'signed'; readonly value: bigint; readonly maxTimeoutSeconds?: number | undefined }
  | { readonly kind: 'balance' }

/** What a version costs its buyer, and when the money moves. */
export type QuoteWindow = { readonly price: Usdc; readonly settle: keyof typeof paymentWindows }

/** The two versions of an offer; one that cannot be bought is undefined. */
export type Offers<O extends QuoteWindow> = { readonly before: O | undefined; readonly today: O | undefined }

/**
 * The version that is bought. Who asks is told today's; a signature buys the version whose price was signed; a balance
 * buys the one that costs less. Where both would do, it is the one before: the buyer may not have seen any other.
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
