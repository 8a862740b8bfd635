import { apiKeyHeader } from '../../src/api/endpoint/credentials.ts'
import { invalidField } from '../../src/core/error.ts'
import type { Exchange } from './exchange.ts'

const BEARER = /^Bearer +(\S+)$/i

/** The token of `Authorization: Bearer`, whatever it is for. */
export function readBearer(exchange: Exchange): string | undefined {
  return BEARER.exec(exchange.header('authorization') ?? '')?.[1]
}

/** `X-API-Key: sk_…` or `Authorization: Bearer sk_…`. @throws AppError 400 when both are there and differ. */
export function readApiKey(exchange: Exchange): string | undefined {
  const bearer = readBearer(exchange)
  const bearerKey = bearer?.startsWith('sk_') ? bearer : undefined
  const header = exchange.header(apiKeyHeader)
  if (header !== undefined && bearerKey !== undefined && header !== bearerKey) {
    throw invalidField(apiKeyHeader, 'names another key than Authorization: send one')
  }
  return header ?? bearerKey
}
