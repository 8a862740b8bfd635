import { crc32 } from 'node:zlib'
import type { DiskFile } from '../disk.ts'

/** A line on disk: CRC-32 as 8 hex digits, a space, JSON, a line feed (docs/reference/storage-format.md). */
const CRC_CHARS = 8
const PREFIX_BYTES = CRC_CHARS + 1
const SPACE = 0x20
const LINE_FEED = 0x0a
const CLOSING = 0x7d
const READ_CHUNK_BYTES = 4 * 1024 * 1024
/** Longer lines count as damage. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024

export type RawLine = {
  readonly buffer: Buffer
  readonly start: number
  /** Index of the line feed. */
  readonly end: number
  /** Offset in the file, bytes. */
  readonly offset: number
}

export function frame(json: string): string {
  return `${crc32(json).toString(16).padStart(CRC_CHARS, '0')} ${json}\n`
}

const NOT_HEX = -1
const nibbles = new Int8Array(256).fill(NOT_HEX)
for (let i = 0; i < 16; i += 1) nibbles[i.toString(16).charCodeAt(0)] = i

/** Checksum of a line; -1 if missing. */
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

/** JSON of a line; undefined if the checksum fails. */
export function unframe(line: RawLine): string | undefined {
  const { buffer, start, end } = line
  const stored = storedCrc(line)
  if (stored === NOT_HEX || crc32(buffer.subarray(start + PREFIX_BYTES, end)) !== stored) return undefined
  return buffer.toString('utf8', start + PREFIX_BYTES, end)
}

const TX_START = Buffer.from('{"s":')

/**
 * Whether a bad line was once written completely: its start and end are intact and it has no zero bytes. An unfinished
 * write ends early or has zero bytes.
 */
export function wasWhole(line: RawLine): boolean {
  const { buffer, start, end } = line
  const at = start + PREFIX_BYTES
  if (end - at < TX_START.length || buffer.subarray(start, end).includes(0)) return false
  return buffer[end - 1] === CLOSING && buffer.subarray(at, at + TX_START.length).equals(TX_START)
}

/** `from`: where a line starts. `rest`: awaited after each chunk of lines. */
type ScanOptions = { readonly from?: number; readonly rest?: (() => Promise<void>) | undefined }

/**
 * Reads a file line by line. Stops when `visit` returns false.
 * @returns `lastLineEnd`: end of the last accepted line. A line after it is unfinished or was refused.
 */
export async function scanLines(
  file: DiskFile,
  visit: (line: RawLine) => boolean,
  { from = 0, rest }: ScanOptions = {},
) {
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
    await rest?.()
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
