/** Headers with an API key (decisions §3). `X-API-Key` authenticates; `X-BALANCE-AUTH` also pays from the balance. */
export const apiKeyHeader = 'X-API-Key'
export const balanceHeader = 'X-BALANCE-AUTH'
/** Price limit of a paid request, in dollars like `0.525` (decisions §4). */
export const maxPriceHeader = 'X-Max-Price'
