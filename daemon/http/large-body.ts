import { isAscii } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'

const BYTE_ORDER_MARK = '\uFEFF'
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i

/** Whether a body is in the charset that JSON has; the parser of small ones knows others, and refuses the rest. */
export function isUtf8({ headers }: IncomingMessage): boolean {
  const [, charset = 'utf-8'] = CHARSET.exec(headers['content-type'] ?? '') ?? []
  return /^utf-?8$/i.test(charset)
}

/**
 * Decodes and parses what may be megabytes, each in a turn of its own, so that others have theirs in between.
 * @returns undefined where there is no body.
 * @throws Error of the type that a parser of bodies throws, for what is no JSON.
 */
export async function parseInTurns(bytes: unknown): Promise<unknown> {
  if (!Buffer.isBuffer(bytes)) return undefined
  await nextTurn()
  // Most are ASCII, which need not be decoded.
  const text = isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8')
  await nextTurn()
  try {
    return text === '' ? {} : JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
  } catch (error) {
    throw Object.assign(new Error('not JSON', { cause: error }), { type: 'entity.parse.failed' })
  } finally {
    await nextTurn()
  }
}
