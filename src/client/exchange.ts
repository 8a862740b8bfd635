import { AppError, type ErrorCode, errorCodes } from '../core/error.ts'
import { isObject, jsonOrText } from '../core/json.ts'
import { paymentWindows } from '../core/limits.ts'
import { isKeyOf, keysOf } from '../core/record.ts'
import { queryText, type Words } from './call.ts'
import type { Transport, TransportRequest } from './transport.ts'

const FIRST_ERROR = 400
const FIRST_FAULT = 500
/** Price limit header, decimal USDC: higher prices are refused without a charge. */
export const MAX_PRICE_HEADER = 'x-max-price'
/** Timeout of a paid request (the seller does the work before the payment is settled), or of one that waits for a chain. */
export const PAID_ANSWER_MS = (paymentWindows.last.maxTimeoutSeconds + 30) * 1_000

const UNAVAILABLE = 503
const S_MS = 1_000
/** Longest `Retry-After` that is waited for, in seconds, and how often. */
const AGAIN_AFTER_MAX_S = 2
const AGAIN_MAX = 10

/** A response with any status, whose body is not validated. */
export type RawAnswer = {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A call as the transport takes it; with a file, also the form, whose hash is known when it is sent. */
export async function requestOf({ query, file, body, path, ...call }: Words) {
  // The code for uploads is loaded only if it is needed.
  const form = file && (await import('./upload.ts')).formOf(textFields(body), file)
  const isJson = form === undefined && body !== undefined
  const request: TransportRequest = {
    ...call,
    path: path + queryText(query),
    headers: { ...(isJson ? { 'content-type': 'application/json' } : {}), ...form?.headers, ...call.headers },
    ...(isJson ? { body: JSON.stringify(body) } : {}),
    ...(form ? { body: form.body } : {}),
  }
  return { request, form }
}

type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>

/**
 * Sends a request again if a 503 asks for it in a moment, as while a daemon restarts: reads, and writes with an
 * idempotency key. The last 503 is returned.
 */
export function patient(transport: Transport, sleep: Sleep): Transport {
  return async (request) => {
    const names = Object.keys(request.headers ?? {}).map((name) => name.toLowerCase())
    const isSafe = request.method === 'GET' || (names.includes('idempotency-key') && typeof request.body !== 'object')
    for (let again = 0; ; again += 1) {
      const answer = await transport(request)
      const afterS = Number(answer.headers['retry-after'])
      if (answer.status !== UNAVAILABLE || !isSafe || !(afterS <= AGAIN_AFTER_MAX_S) || again === AGAIN_MAX)
        return answer
      await answer.bytes()
      await sleep(afterS * S_MS, request.signal)
    }
  }
}

/** Sends a request once. A response that is not JSON becomes text. @throws TransportError without a response */
export async function dispatched(transport: Transport, words: Words): Promise<RawAnswer> {
  const { status, headers, text } = await transport((await requestOf(words)).request)
  return { status, headers, body: bodyOf(await text()) }
}

/** @throws AppError for a refusal */
export function settled(answer: RawAnswer): RawAnswer {
  if (answer.status >= FIRST_ERROR) throw errorOf(answer)
  return answer
}

export function withHeaders(words: Words, headers: Readonly<Record<string, string>>): Words {
  return { ...words, headers: { ...words.headers, ...headers } }
}

/** The response in the form that the payment functions take. */
export function responseOf({ status, headers, body }: RawAnswer) {
  return { status, headers: { get: (name: string) => headers[name.toLowerCase()] ?? null }, body }
}

/** Fields of a form as text; undefined ones are left out. */
function textFields(body: unknown): Record<string, string> {
  const fields = Object.entries(isObject(body) ? body : {}).filter(([, value]) => value !== undefined)
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]))
}

function bodyOf(text: string): unknown {
  // Text that is not JSON is for example a page, or the response of a proxy.
  return text === '' ? null : jsonOrText(text)
}

/** The error in a response, from any server. */
export function errorOf(answer: RawAnswer): AppError {
  const body = isObject(answer.body) ? answer.body : {}
  const retryAfter = Number(body.retry_after ?? answer.headers['retry-after'])
  const { error: _error, code: _code, message: _message, details, retry_after: _after, ...extra } = body
  return new AppError(codeOf(answer.status, body), messageOf(answer, body), {
    ...(Array.isArray(details) ? { details } : {}),
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
    extra: { request_id: answer.headers['x-request-id'] ?? null, ...extra, http_status: answer.status },
  })
}

function codeOf(status: number, body: Readonly<Record<string, unknown>>): ErrorCode {
  if (typeof body.code === 'string' && isKeyOf(errorCodes, body.code)) return body.code
  const byStatus = keysOf(errorCodes).find((code) => errorCodes[code].status === status)
  return byStatus ?? (status >= FIRST_FAULT ? 'internal' : 'invalid_request')
}

function messageOf(answer: RawAnswer, body: Readonly<Record<string, unknown>>): string {
  if (typeof body.message === 'string') return body.message
  return typeof body.error === 'string' ? body.error : `The instance returned status ${answer.status}.`
}
