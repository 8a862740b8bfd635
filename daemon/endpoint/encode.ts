import { hash } from 'node:crypto'
import { z } from 'zod'
import { JSON_TYPE, type ReplyOut } from './exchange.ts'
import type { Encoded, Streamed } from './handler.ts'
import type { Html } from './html.ts'

/** Encodes a response by its endpoint's schema, which drops unknown members. */
export function encodeJson(
  schema: z.ZodType,
  value: unknown,
  options: { private: boolean; validator?: boolean },
): ReplyOut {
  const body = JSON.stringify(z.encode(schema, value))
  return {
    kind: 'bytes',
    status: 200,
    headers: options.private
      ? { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' }
      : { 'Content-Type': JSON_TYPE, ...(options.validator ? { ETag: validatorOf(body) } : {}) },
    body,
  }
}

/** An ETag; it is weak, because a compressed copy has different bytes. */
export function validatorOf(body: string | Buffer): string {
  return `W/"${hash('sha256', body, 'base64url')}"`
}

/** A reply from bytes encoded earlier, with their ETag. */
export function encodedReply(encoded: Encoded, contentType: string): ReplyOut {
  const headers: Record<string, string> = { 'Content-Type': contentType }
  if (encoded.etag) headers.ETag = encoded.etag
  if (encoded.cache) headers['Cache-Control'] = encoded.cache
  Object.assign(headers, encoded.headers)
  if (encoded.replayed) headers['Idempotency-Replayed'] = 'true'
  return { kind: 'bytes', status: 200, headers, body: encoded.bytes }
}

export function encodeText(text: string, contentType: string): ReplyOut {
  return {
    kind: 'bytes',
    status: 200,
    headers: { 'Content-Type': contentType, 'Cache-Control': 'no-store' },
    body: text,
  }
}

/** An attachment generated while it is sent; never cached. */
export function encodeChunks({ name, chunks }: Streamed, contentType: string): ReplyOut {
  const headers = {
    'Content-Type': contentType,
    'Cache-Control': 'no-store',
    'Content-Disposition': `attachment; filename="${name}"`,
  }
  return { kind: 'stream', headers, chunks }
}

/** An HTML page (decisions §6). Its headers allow only souk's own styles and forms, and forbid framing and caching. */
export function encodePage(page: Html): ReplyOut {
  return { kind: 'bytes', status: 200, headers: pageHeaders, body: page.markup }
}

/** Headers of every page: no content sniffing, no referrer, no framing. */
export const guards = {
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

export const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'",
  ...guards,
}

export type EventIn = { readonly id: string; readonly event: string; readonly data: unknown }

export function encodeEvents(schema: z.ZodType, source: AsyncIterable<EventIn>): ReplyOut {
  async function* encoded() {
    for await (const { id, event, data } of source) {
      yield { id, event, data: JSON.stringify(z.encode(schema, data)) }
    }
  }
  return { kind: 'events', status: 200, headers: { 'Cache-Control': 'no-store' }, events: encoded() }
}
