import { once } from 'node:events'
import { connect } from 'node:net'

/** Answers that were read, by status. */
export type Tally = {
  answered: number
  readonly statuses: Map<number, number>
  seconds: number
}

export type Load = {
  readonly url: string
  readonly connections: number
  /** The bytes of the next request, or undefined when this was the last; asked by whichever connection is free. */
  readonly next: () => Buffer | undefined
}

const HEAD_END = '\r\n\r\n'
const LENGTH = /\r\ncontent-length: (\d+)/i
const STATUS_AT = 'HTTP/1.1 '.length
const STATUS_DIGITS = 3
const READ_BYTES = 64 * 1_024
const MAX_HEAD_BYTES = 8_192
const MILLISECONDS_A_SECOND = 1_000

/**
 * Keeps `connections` keep-alive connections busy with one request each. It writes ready bytes and counts what comes
 * back, so that the generator stays much cheaper than any server it loads.
 */
export async function load({ url, connections, next }: Load): Promise<Tally> {
  const tally: Tally = { answered: 0, statuses: new Map(), seconds: 0 }
  const started = performance.now()
  await Promise.all(Array.from({ length: connections }, () => drive(new URL(url), next, tally)))
  tally.seconds = (performance.now() - started) / MILLISECONDS_A_SECOND
  return tally
}

async function drive({ hostname, port }: URL, next: Load['next'], tally: Tally): Promise<void> {
  let head = ''
  let missing = 0
  const socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    // One buffer for all reads: what is counted need not be kept.
    onread: { buffer: Buffer.allocUnsafe(READ_BYTES), callback: read },
  })
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  send()
  await closed

  function send(): void {
    const request = next()
    if (request) socket.write(request)
    else socket.end()
  }

  function read(count: number, bytes: Uint8Array): boolean {
    missing = missing > 0 ? missing - count : begin(bytes.subarray(0, count))
    if (missing === 0) send()
    return true
  }

  /** Reads a head, whole or so far. @returns bytes of the body still to come; -1 asks for more of the head. */
  function begin(bytes: Uint8Array): number {
    const known = head.length
    const text =
      head + Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAX_HEAD_BYTES)).toString('latin1')
    const end = text.indexOf(HEAD_END)
    head = end < 0 ? text : ''
    if (end < 0) return -1
    const status = Number(text.slice(STATUS_AT, STATUS_AT + STATUS_DIGITS))
    tally.answered += 1
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
    const length = Number(LENGTH.exec(text.slice(0, end))?.[1] ?? 0)
    return end + HEAD_END.length + length - known - bytes.length
  }
}

/** Bytes of a request as they go over the wire. */
export function requestBytes(request: {
  readonly url: string
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}): Buffer {
  const { url, method, path, headers = {}, body } = request
  const all: Record<string, string> = {
    Host: new URL(url).host,
    Accept: 'application/json',
    ...headers,
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body ?? ''}`)
}
