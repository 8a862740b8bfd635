import { Client } from 'undici'
import { type BodyLimit, readBody } from './body.ts'
import { guardedConnector, type Hop } from './connect.ts'
import { asWebError } from './error.ts'
import type { WebResponse } from './exchange.ts'
import { ROBOTS_AGENT } from './robots.ts'

const MAX_HEADER_BYTES = 32 * 1024
export const USER_AGENT = `${ROBOTS_AGENT}/1 (agent services marketplace)`

/** One request, as it is copied to a worker thread. */
export type HopRequest = Hop &
  BodyLimit & {
    readonly url: string
    readonly method: 'GET' | 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }

export type HopResponse = Pick<WebResponse, 'status' | 'headers' | 'body' | 'truncated'>

/** Sends one request on its own connection, so that the checked address is used. @throws WebError */
export async function requestOnce(request: HopRequest, signal: AbortSignal): Promise<HopResponse> {
  const { origin, pathname, search, protocol } = new URL(request.url)
  let connected = false
  const connect = guardedConnector(request, () => {
    connected = true
  })
  const client = new Client(origin, { connect, maxHeaderSize: MAX_HEADER_BYTES, pipelining: 1 })
  try {
    const answer = await client.request({
      method: request.method,
      path: `${pathname}${search}`,
      headers: { 'user-agent': USER_AGENT, 'accept-encoding': 'identity', ...request.headers },
      body: request.body ?? null,
      signal,
      reset: true,
    })
    const headers = joined(answer.headers)
    const { bytes, truncated } = await readBody(answer.body, headers['content-encoding'], request)
    return { status: answer.statusCode, headers, body: bytes, truncated }
  } catch (error) {
    throw asWebError(error, { connected, isTls: protocol === 'https:' })
  } finally {
    // The connection is no longer needed.
    client.destroy().catch(() => undefined)
  }
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value] as const],
  )
  return Object.fromEntries(entries)
}
