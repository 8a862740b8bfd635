import { apiKeyHeader, balanceHeader } from '../../src/api/endpoint/credentials.ts'
import { invalidField } from '../../src/core/error.ts'
import type { Exchange } from './exchange.ts'

const BEARER = /^Bearer +(\S+)$/i

/** The token of `Authorization: Bearer`, whatever it is for. */
export function readBearer(exchange: Exchange): string | undefined {
  return BEARER.exec(exchange.header('authorization') ?? '')?.[1]
}

/**
 * The API key of a request: `X-API-Key`, `Authorization: Bearer sk_…` or `X-BALANCE-AUTH`.
 * @throws AppError 400 when two of them are there and differ: they name two participants, or one that nobody knows.
 */
export function readApiKey(exchange: Exchange): string | undefined {
  const bearer = readBearer(exchange)
  const sent = [
    [apiKeyHeader, exchange.header(apiKeyHeader)],
    ['Authorization', bearer?.startsWith('sk_') ? bearer : undefined],
    [balanceHeader, exchange.header(balanceHeader)],
  ].filter((pair): pair is [string, string] => pair[1] !== undefined)
  const [first] = sent
  const other = sent.find(([, key]) => key !== first?.[1])
  if (first && other) throw invalidField(first[0], `names another key than ${other[0]}: send one`)
  return first?.[1]
}
