import { AppError, type ErrorDetail } from '../../../src/core/error.ts'
import { MAX_HEADER_BYTES, MAX_STATE_LINE_BYTES } from './state-out.ts'

const LINE_FEED = 0x0a

export type StateLine = { readonly number: number; readonly bytes: Buffer; readonly value: unknown }

export function faultAt(line: number, message: string, path = ''): AppError {
  const details: ErrorDetail[] = [{ path: path === '' ? `line ${line}` : `line ${line}: ${path}`, message }]
  const where = path === '' ? `Line ${line}` : `Line ${line}, ${path}`
  return new AppError('invalid_request', `${where}: ${message.replace(/\.$/, '')}. Nothing was changed.`, { details })
}

/** Lines of a file including their line feeds, each within the length limit. @throws AppError 400 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StateLine> {
  let number = 0
  // Pieces of the line that is not complete yet. They are joined once, when it is complete.
  let pieces: Buffer[] = []
  let length = 0
  for await (const some of chunks) {
    const chunk = Buffer.from(some.buffer, some.byteOffset, some.byteLength)
    let start = 0
    for (let feed = chunk.indexOf(LINE_FEED); feed >= 0; feed = chunk.indexOf(LINE_FEED, start)) {
      number += 1
      yield lineOf(number, Buffer.concat([...pieces, chunk.subarray(start, feed + 1)]))
      pieces = []
      length = 0
      start = feed + 1
    }
    if (start === chunk.byteLength) continue
    // Copy the chunk's rest, because the reader may reuse the chunk's memory.
    pieces.push(Buffer.from(chunk.subarray(start)))
    length += chunk.byteLength - start
    const most = number === 0 ? MAX_HEADER_BYTES : MAX_STATE_LINE_BYTES
    if (length > most) throw faultAt(number + 1, `is longer than ${most} bytes`)
  }
  if (length > 0) throw faultAt(number + 1, 'the file ends inside this line: it was truncated')
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function lineOf(number: number, bytes: Buffer): StateLine {
  const most = number === 1 ? MAX_HEADER_BYTES : MAX_STATE_LINE_BYTES
  if (bytes.byteLength > most) throw faultAt(number, `is longer than ${most} bytes`)
  try {
    return { number, bytes, value: JSON.parse(decoder.decode(bytes)) }
  } catch {
    throw faultAt(number, 'is not JSON')
  }
}
