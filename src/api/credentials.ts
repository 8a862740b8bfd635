/** Headers that carry a key (decisions §3): to be known by, and to be known by and pay from the balance. */
export const apiKeyHeader = 'X-API-Key'
export const balanceHeader = 'X-BALANCE-AUTH'
