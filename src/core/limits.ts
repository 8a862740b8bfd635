/** Limits shared by contract, daemon and clients. */

/** Default and largest page size. */
export const DEFAULT_PAGE = 20
export const MAX_PAGE = 100
/** Days of sales figures, including today. */
export const SOLD_DAYS = 7

/** JSON bodies of our own schemas. */
export const MAX_BODY_BYTES = 256 * 1024
/** A provider's delivery as JSON, and its request body. */
export const MAX_DELIVERABLE_BYTES = 8 * 1024 * 1024
export const MAX_DELIVERY_BODY_BYTES = MAX_DELIVERABLE_BYTES + 64 * 1024
/** Nesting of a JSON body, checked before schemas. */
export const MAX_JSON_DEPTH = 32
/** Values in a JSON body: more would block everybody. */
export const MAX_JSON_VALUES = 250_000
/** Digits of a JSON number: more would block everybody. */
export const MAX_JSON_DIGITS = 1_000
/** Stars of a rating. */
export const MAX_RATING = 5
/** `Idempotency-Key`. */
export const MAX_IDEMPOTENCY_KEY_CHARS = 255
/** Lengths of names and descriptions. */
export const MAX_NAME_CHARS = 100
export const MAX_TEXT_CHARS = 5_000
export const MAX_URL_CHARS = 2_048
/** The file of a digital product. */
export const MAX_PRODUCT_BYTES = 100 * 1024 * 1024
/** A file of a conversation. */
export const MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024
/** A message of a conversation. */
export const MAX_MESSAGE_CHARS = 5_000
/** Brief of an inquiry, text or JSON. */
export const MAX_BRIEF_CHARS = 32 * 1024

/**
 * Payment windows by settlement order: requested by the 402, and remaining when verified (decisions §4). `last`
 * includes 30 s for the handler.
 */
export const paymentWindows = {
  first: { marginSeconds: 6, maxTimeoutSeconds: 60 },
  last: { marginSeconds: 36, maxTimeoutSeconds: 120 },
} as const
/** How long an old price stays payable after an edit: the longest payment time of a 402. */
export const quoteWindowSeconds = Math.max(...Object.values(paymentWindows).map((window) => window.maxTimeoutSeconds))
