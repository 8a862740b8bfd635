/** Default page size; `MAX_PAGE` is the largest. */
export const DEFAULT_PAGE = 20
export const MAX_PAGE = 100
/** Number of days that sales figures cover, including today. */
export const SOLD_DAYS = 7

/** Largest JSON body of a request, unless its endpoint allows more. */
export const MAX_BODY_BYTES = 256 * 1024
/** Largest delivery of a provider as JSON; `MAX_DELIVERY_BODY_BYTES` limits the whole request body. */
export const MAX_DELIVERABLE_BYTES = 8 * 1024 * 1024
export const MAX_DELIVERY_BODY_BYTES = MAX_DELIVERABLE_BYTES + 64 * 1024
/** Deepest nesting of a JSON body, checked before its schema. */
export const MAX_JSON_DEPTH = 32
/** Largest number of values in a JSON body; parsing more would block all requests. */
export const MAX_JSON_VALUES = 250_000
/** Largest number of digits in a JSON number; parsing more would block all requests. */
export const MAX_JSON_DIGITS = 1_000
export const MAX_RATING = 5
export const MAX_IDEMPOTENCY_KEY_CHARS = 255
export const MAX_NAME_CHARS = 100
export const MAX_TEXT_CHARS = 5_000
export const MAX_URL_CHARS = 2_048
export const MAX_PRODUCT_BYTES = 100 * 1024 * 1024
/** Largest file in a conversation. */
export const MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024
export const MAX_MESSAGE_CHARS = 5_000
/** Longest brief of an inquiry, as text or JSON. */
export const MAX_BRIEF_CHARS = 32 * 1024

/**
 * Time limits for payments that settle before the handler (`first`) or after it (`last`); a handler may take 30 s. A
 * 402 gives the payer `maxTimeoutSeconds`. At verification, a payment must stay valid for `marginSeconds` (decisions
 * §4).
 */
export const paymentWindows = {
  first: { marginSeconds: 6, maxTimeoutSeconds: 60 },
  last: { marginSeconds: 36, maxTimeoutSeconds: 120 },
} as const
/** How long an old price stays payable after an edit: the longest payment time of a 402. */
export const quoteWindowSeconds = Math.max(...Object.values(paymentWindows).map((window) => window.maxTimeoutSeconds))
