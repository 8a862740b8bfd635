/** Bounds that contract, daemon and clients share. */

/** Rows on a page unless told otherwise, and at most. */
export const DEFAULT_PAGE = 20
export const MAX_PAGE = 100
/** Business days that say how a listing, or a seller, sells; today is one of them. */
export const SOLD_DAYS = 7

/** JSON bodies of our own schemas. */
export const MAX_BODY_BYTES = 256 * 1024
/** What a provider delivers at once, as JSON; and the body that carries it. */
export const MAX_DELIVERABLE_BYTES = 8 * 1024 * 1024
export const MAX_DELIVERY_BODY_BYTES = MAX_DELIVERABLE_BYTES + 64 * 1024
/** Nesting of a JSON body; deeper ones are refused before any schema walks them. */
export const MAX_JSON_DEPTH = 32
/** Members and elements of a JSON body in all: parsing, walking and writing more would hold everybody up. */
export const MAX_JSON_VALUES = 250_000
/** Digits of a number in a JSON body: reading millions of them would hold everybody up. */
export const MAX_JSON_DIGITS = 1_000
/** Stars of a rating. */
export const MAX_RATING = 5
/** `Idempotency-Key`. */
export const MAX_IDEMPOTENCY_KEY_CHARS = 255
/** Free text of names and descriptions. */
export const MAX_NAME_CHARS = 100
export const MAX_TEXT_CHARS = 5_000
export const MAX_URL_CHARS = 2_048
/** The file of a digital product. */
export const MAX_PRODUCT_BYTES = 100 * 1024 * 1024
/** A file of a conversation. */
export const MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024
/** A message of a conversation. */
export const MAX_MESSAGE_CHARS = 5_000
/** What an inquiry asks for, as text or as JSON. */
export const MAX_BRIEF_CHARS = 32 * 1024

/**
 * Payment windows by settlement order: what the 402 asks for and what verification still needs
 * when the request arrives (decisions §4). `last` leaves room for a handler of 30 s before settling.
 */
export const paymentWindows = {
  first: { marginSeconds: 6, maxTimeoutSeconds: 60 },
  last: { marginSeconds: 36, maxTimeoutSeconds: 120 },
} as const
/** How long what was quoted stays good after an edit: as long as a 402 gives at most to pay it. */
export const quoteWindowSeconds = Math.max(...Object.values(paymentWindows).map((window) => window.maxTimeoutSeconds))
