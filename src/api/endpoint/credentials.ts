/** Headers that carry a key (decisions §3): to be known by, and to be known by and pay from the balance. */
export const apiKeyHeader = 'X-API-Key'
export const balanceHeader = 'X-BALANCE-AUTH'
/** What a paid request may cost at most, in dollars like `0.525` (decisions §4). */
export const maxPriceHeader = 'X-Max-Price'
