import { isObject, isShallow, jsonIn } from '../../core/json.ts'
import { MAX_JSON_DEPTH } from '../../core/limits.ts'
import type { HttpMethod } from '../transport.ts'
import { isSecret, secretPaths } from './masking.ts'
import type { Ids, Shape } from './shape.ts'

/** A line of a recording says with this member that it is one, and of which form. */
export const RECORDING_FORM = 1

/** Longest line of a recording, and most of a body that is kept. */
export const RECORDED_LINE_BYTES_MAX = 1024 * 1024
const RECORDED_BODY_BYTES_MAX = 512 * 1024

/** By what a request said who sends it; never the credential itself. */
export const auths = ['none', 'key', 'admin', 'payment'] as const
export type Auth = (typeof auths)[number]

/** A request and what its answer was like: no credential, no signature, and of the answer no value but ids. */
export type RecordedExchange = {
  /** ISO, wall time. */
  readonly at: string
  readonly method: HttpMethod
  /** With its query. */
  readonly path: string
  readonly auth: Auth
  /** JSON that was sent. */
  readonly body?: unknown
  /** Why it cannot be sent again. */
  readonly left_out?: string
  readonly status: number
  readonly ms: number
  readonly shape?: Shape
  readonly ids?: Ids
}

/** What is sent: the body as JSON text, or what it was instead. */
type Sent = { readonly path: string; readonly body?: string | undefined; readonly odd?: string | undefined }

/** What may be kept of a request; one with a credential of its own loses it, and cannot be sent again. */
export function kept({ path, body, odd }: Sent): Pick<RecordedExchange, 'path' | 'body' | 'left_out'> {
  const [plain = '', query = ''] = path.split('?')
  const secretPath = secretPaths.find((start) => plain.startsWith(start))
  if (secretPath !== undefined) return { path: `${secretPath}…`, left_out: 'a credential in its path' }
  const secretQuery = [...new URLSearchParams(query)].find(([name, value]) => isSecret(name, value))
  if (secretQuery) return { path: plain, left_out: `a credential, ${secretQuery[0]} of its query` }
  if (odd !== undefined) return { path, left_out: odd }
  if (body === undefined) return { path }
  if (Buffer.byteLength(body) > RECORDED_BODY_BYTES_MAX) return { path, left_out: 'a body that is too large' }
  const found = jsonIn(body)
  if (found === undefined) return { path, left_out: 'a body that is not JSON' }
  if (!isShallow(found.value, MAX_JSON_DEPTH)) return { path, left_out: 'a body that is nested too deep' }
  const secret = secretIn(found.value, '')
  return secret === undefined ? { path, body: found.value } : { path, left_out: `a credential, ${secret} of its body` }
}

/** The first credential in a body. @returns its path */
function secretIn(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return isSecret(path.split('.').at(-1) ?? '', value) ? path || 'the whole' : undefined
  const members = Array.isArray(value) || isObject(value) ? Object.entries(value) : []
  for (const [name, member] of members) {
    const found = secretIn(member, path === '' ? name : `${path}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** By what a request says who it is from. @param headers lower-case names */
export function authOf(headers: Readonly<Record<string, string>>): Auth {
  const has = (name: string) => headers[name] !== undefined
  if (has('x-payment') || has('payment-signature') || has('x-balance-auth')) return 'payment'
  if (has('x-api-key')) return 'key'
  const { authorization = '' } = headers
  if (authorization === '') return 'none'
  return /^bearer adm_/i.test(authorization) ? 'admin' : 'key'
}

/** What kind of answer it is, where it is not JSON: told by its head alone. */
export function kindOf(status: number, contentType = ''): 'json' | 'stream' | 'text' | 'file' | 'nothing' {
  if (status === 204 || status === 304) return 'nothing'
  if (/[/+]json\b/i.test(contentType)) return 'json'
  if (/^text\/event-stream\b/i.test(contentType)) return 'stream'
  return /^text\//i.test(contentType) || contentType === '' ? 'text' : 'file'
}
