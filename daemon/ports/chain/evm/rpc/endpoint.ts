import { Pool } from 'undici'
import type { Hex } from '../../../../../src/core/hex.ts'
import { isObject, jsonIn } from '../../../../../src/core/json.ts'
import { EndpointFailed, isHex } from './values.ts'

/** Limit of a batch response. The receipt of 100 transfers is about 150 kB. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024
const MAX_CONNECTIONS = 32
const MAX_MESSAGE_CHARS = 300

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

/** A node's answer to one call. `data` is revert data; messages are not interpreted. */
export type RpcAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string; readonly data?: Hex }

export type NodeEndpoint = {
  /** Host and port only, because the path may contain a key. */
  readonly label: string
  /** Sends all calls in one request, without retries. @throws EndpointFailed */
  post(calls: readonly RpcCall[], timeoutMs: number): Promise<readonly RpcAnswer[]>
  close(): Promise<void>
}

export function openEndpoint(url: string): NodeEndpoint {
  const { origin, pathname, search, host, username, password } = new URL(url)
  const pool = new Pool(origin, { connections: MAX_CONNECTIONS, pipelining: 1 })
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  if (username || password) {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  }

  async function exchange(body: string, timeoutMs: number): Promise<string> {
    // `AbortSignal.timeout` would also fire after an answer, with an unhandled error.
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeoutMs)
    const { signal } = late
    try {
      const path = `${pathname}${search}`
      const answer = await pool.request({ method: 'POST', path, headers, body, signal })
      const text = (await boundedText(answer.body, MAX_ANSWER_BYTES)) ?? tooLarge()
      if (answer.statusCode !== 200) throw new EndpointFailed('status', `${host} returned status ${answer.statusCode}`)
      return text
    } catch (error) {
      if (error instanceof EndpointFailed) throw error
      if (signal.aborted) throw new EndpointFailed('timeout', `${host} did not answer within ${timeoutMs} ms`)
      throw new EndpointFailed('cut', `${host} cannot be reached: ${codeOf(error)}`)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    label: host,
    post: async (calls, timeoutMs) => {
      const body = JSON.stringify(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })))
      return answersIn(await exchange(body, timeoutMs), { host, calls: calls.length })
    },
    close: () => pool.destroy(),
  }
}

function tooLarge(): never {
  throw new EndpointFailed('too_large', `the response of the node exceeds ${MAX_ANSWER_BYTES} bytes`)
}

/** Text of a body; undefined above the size limit. */
export async function boundedText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > maxBytes) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

/** Sorts the answers in a JSON-RPC batch into the order of the calls. Nodes may send them in another order. */
function answersIn(text: string, { host, calls }: { host: string; calls: number }): RpcAnswer[] {
  const list = jsonIn(text)?.value
  if (!Array.isArray(list)) throw new EndpointFailed('malformed', `${host} did not answer with an array`)
  const answers = new Map<unknown, RpcAnswer>()
  for (const one of list) if (isObject(one)) answers.set(one['id'], answerIn(one))
  return Array.from({ length: calls }, (_, id) => {
    const answer = answers.get(id)
    if (!answer) throw new EndpointFailed('malformed', `${host} did not answer a call`)
    return answer
  })
}

function answerIn(one: { readonly [member: string]: unknown }): RpcAnswer {
  const { error } = one
  if (!isObject(error)) return { ok: true, result: one['result'] }
  const { code, message, data } = error
  return {
    ok: false,
    code: typeof code === 'number' ? code : 0,
    message: String(message).slice(0, MAX_MESSAGE_CHARS),
    ...(isHex(data) ? { data } : {}),
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error ? String((isObject(error) && error['code']) || error.message) : 'unknown'
}
