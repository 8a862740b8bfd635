import { hash } from 'node:crypto'
import { z } from 'zod'
import { JSON_TYPE, type ReplyOut } from './exchange.ts'
import type { Encoded, Streamed } from './handler.ts'
import type { Html } from './html.ts'

/** Encodes an answer by its endpoint's schema: unknown members cannot leave. */
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

/** Weak: the same answer has other bytes when it is compressed. */
export function validatorOf(body: string | Buffer): string {
  return `W/"${hash('sha256', body, 'base64url')}"`
}

/** Bytes that were encoded before, with their validator. */
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

/** What is made while it is sent: an attachment that nobody keeps. */
export function encodeChunks({ name, chunks }: Streamed, contentType: string): ReplyOut {
  const headers = {
    'Content-Type': contentType,
    'Cache-Control': 'no-store',
    'Content-Disposition': `attachment; filename="${name}"`,
  }
  return { kind: 'stream', headers, chunks }
}

/** A served page (decisions §6): nothing but its own style and forms, and nobody frames or keeps it. */
export function encodePage(page: Html): ReplyOut {
  return { kind: 'bytes', status: 200, headers: pageHeaders, body: page.markup }
}

/** What holds for every page: it is what it says, tells nobody whose link was followed, and nobody frames it. */
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
