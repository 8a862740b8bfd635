import { crc32 } from 'node:zlib'
import type { DiskFile } from '../disk.ts'

/** A line on disk: 8 hex digits of CRC-32, a space, JSON, a line feed (docs/reference/storage-format.md). */
const CRC_CHARS = 8
const PREFIX_BYTES = CRC_CHARS + 1
const SPACE = 0x20
const LINE_FEED = 0x0a
const CLOSING = 0x7d
const READ_CHUNK_BYTES = 4 * 1024 * 1024
/** Longest line that is believed; anything longer is damage. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024

/** A piece of a file between two line feeds. */
export type RawLine = {
  readonly buffer: Buffer
  readonly start: number
  /** Position of the line feed in `buffer`. */
  readonly end: number
  /** Position of the line in the file, bytes. */
  readonly offset: number
}

export function frame(json: string): string {
  return `${crc32(json).toString(16).padStart(CRC_CHARS, '0')} ${json}\n`
}

const NOT_HEX = -1
const nibbles = new Int8Array(256).fill(NOT_HEX)
for (let i = 0; i < 16; i += 1) nibbles[i.toString(16).charCodeAt(0)] = i

/** The checksum that a line carries, -1 when it has none. */
export function storedCrc({ buffer, start, end }: RawLine): number {
  if (end - start < PREFIX_BYTES || buffer[start + CRC_CHARS] !== SPACE) return NOT_HEX
  let value = 0
  for (let i = start; i < start + CRC_CHARS; i += 1) {
    const nibble = nibbles[buffer[i] ?? 0] ?? NOT_HEX
    if (nibble === NOT_HEX) return NOT_HEX
    value = value * 16 + nibble
  }
  return value
}

/** JSON text of a line, undefined when its checksum does not hold. */
export function unframe(line: RawLine): string | undefined {
  const { buffer, start, end } = line
  const stored = storedCrc(line)
  if (stored === NOT_HEX || crc32(buffer.subarray(start + PREFIX_BYTES, end)) !== stored) return undefined
  return buffer.toString('utf8', start + PREFIX_BYTES, end)
}

const TX_START = Buffer.from('{"s":')

/**
 * Whether a line whose checksum does not hold was once written to its end: it has its feed, its frame and no hole. What
 * a write leaves that did not finish ends early, or has zeros where blocks never came.
 */
export function wasWhole(line: RawLine): boolean {
  const { buffer, start, end } = line
  const at = start + PREFIX_BYTES
  if (end - at < TX_START.length || buffer.subarray(start, end).includes(0)) return false
  return buffer[end - 1] === CLOSING && buffer.subarray(at, at + TX_START.length).equals(TX_START)
}

/** How a scan ended: the size of the file, where an unfinished last line begins, and whether a line was too long to go on. */
export type ScanEnd = { readonly sizeBytes: number; readonly lastLineEnd: number; readonly isOverlong: boolean }

/** Walks a file line by line in one pass, in chunks, from the beginning of a line on. `visit` returns false to stop. */
export async function scanLines(file: DiskFile, visit: (line: RawLine) => boolean, from = 0): Promise<ScanEnd> {
  const sizeBytes = await file.sizeBytes()
  let carry: Buffer = Buffer.alloc(0)
  let position = from
  let offset = from
  while (position < sizeBytes) {
    const buffer = Buffer.allocUnsafe(carry.length + Math.min(READ_CHUNK_BYTES, sizeBytes - position))
    carry.copy(buffer)
    const read = await file.read(buffer.subarray(carry.length), position)
    if (read === 0) break
    position += read
    const filled = buffer.subarray(0, carry.length + read)
    const scanned = visitLines(filled, offset, visit)
    offset += scanned.consumed
    if (scanned.stopped) break
    carry = filled.subarray(scanned.consumed)
    if (carry.length > MAX_LINE_BYTES) break
  }
  return { sizeBytes, lastLineEnd: offset, isOverlong: carry.length > MAX_LINE_BYTES }
}

function visitLines(
  buffer: Buffer,
  fileOffset: number,
  visit: (line: RawLine) => boolean,
): { consumed: number; stopped: boolean } {
  let start = 0
  for (;;) {
    const end = buffer.indexOf(LINE_FEED, start)
    if (end === -1) return { consumed: start, stopped: false }
    if (!visit({ buffer, start, end, offset: fileOffset + start })) return { consumed: start, stopped: true }
    start = end + 1
  }
}
