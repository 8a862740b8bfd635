import { createHash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { AppError } from '../../src/core/error.ts'
import { type Disk, type DiskFile, realDisk, writeFully } from './disk.ts'
import { createMutex } from './mutex.ts'

/** A stored blob, named by its SHA-256 (64 hex digits, lower case). */
export type StoredBlob = { readonly sha256: string; readonly sizeBytes: number }

/** Byte range of a blob, both ends inclusive. */
export type ByteRange = { readonly start: number; readonly end: number }

export type SweepRule = {
  readonly isReferenced: (sha256: string) => Promise<boolean>
  /** Epoch milliseconds. Blobs stored after this time stay, because the record that names them may still follow. */
  readonly olderThanMs: number
}

/** Files by content hash. A blob is durable when `put` resolves. A sweep removes blobs that no record names. */
export type BlobStore = {
  /** Removes a blob. The caller makes sure that no record or other transaction uses it. */
  remove(sha256: string): Promise<void>
  /** @throws AppError too_large after `limitBytes`; nothing is stored then */
  put(source: AsyncIterable<Uint8Array>, limitBytes: number): Promise<StoredBlob>
  /** @returns undefined if missing */
  stat(sha256: string): Promise<StoredBlob | undefined>
  /**
   * The content or a range; call `stat` first. Each chunk is valid only until the next one, because all share a buffer.
   */
  read(sha256: string, range?: ByteRange): AsyncIterable<Uint8Array>
  list(): Promise<string[]>
  /** @returns the blobs removed. */
  sweep(rule: SweepRule): Promise<string[]>
}

/** Larger texts are stored as files, to spare memory and journal. */
export const MAX_INLINE_BYTES = 16 * 1024
/** Maximum size of a stored text. Inputs and responses are limited to a fifth of it. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024

/** Whether a text must be stored as a file. */
export function isLarge(text: string): boolean {
  // A UTF-16 unit takes at most 3 bytes in UTF-8, so most texts need not be measured.
  return text.length * 3 > MAX_INLINE_BYTES && Buffer.byteLength(text) > MAX_INLINE_BYTES
}

/** JSON text of a large value; undefined for a small one, usually without serialising it. */
export function largeText(value: unknown): string | undefined {
  if (roomBeside(value, MAX_INLINE_BYTES) >= 0) return undefined
  const text = JSON.stringify(value)
  return isLarge(text) ? text : undefined
}

/** Longest escape, `\u0000`. */
const MAX_CHAR_BYTES = 6
/** Longest JSON number, keyword or pair of brackets. */
const MAX_PLAIN_BYTES = 32

/** A lower bound of `bytes` minus the size of the value's JSON; negative if the value may be too large. */
function roomBeside(value: unknown, bytes: number): number {
  if (typeof value === 'string') return bytes - value.length * MAX_CHAR_BYTES - 3
  let left = bytes - MAX_PLAIN_BYTES
  if (typeof value !== 'object' || value === null) return left
  for (const name in value) {
    if (left < 0) break
    left = roomBeside((value as Record<string, unknown>)[name], left - name.length * MAX_CHAR_BYTES - 3)
  }
  return left
}

/** Bytes hashed and written per event loop turn. */
const PART_BYTES = 256 * 1024

/** Stores a text. @returns its SHA-256 */
export async function putText(blobs: Pick<BlobStore, 'put'>, text: string): Promise<string> {
  async function* parts(): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES)
  }
  return (await blobs.put(parts(), MAX_TEXT_BYTES)).sha256
}

/** Text of a file by its SHA-256. */
export type TextOf = (sha256: string) => string | Promise<string>

/** A stored text. @throws Error when missing */
export async function readText(blobs: Pick<BlobStore, 'read'>, sha256: string): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of blobs.read(sha256)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

const NAME = /^[0-9a-f]{64}$/

/** Whether a file name is that of a complete blob. */
export function isBlobName(name: string): boolean {
  return NAME.test(name)
}

const INCOMING = 'incoming-'
const READ_BYTES = 128 * 1024

/** @param dir - created when missing; unfinished uploads are removed */
export async function openBlobs(options: { readonly dir: string; readonly disk?: Disk }): Promise<BlobStore> {
  const { dir, disk = realDisk } = options
  // A sweep's check and removal must exclude concurrent uploads of the same content.
  const naming = createMutex()
  let uploads = 0

  const pathOf = (sha256: string) => pathIn(dir, sha256)

  async function put(source: AsyncIterable<Uint8Array>, limitBytes: number): Promise<StoredBlob> {
    uploads += 1
    const temporary = `${dir}/${INCOMING}${uploads}`
    const file = await disk.open(temporary, 'create')
    try {
      const blob = await drain(file, source, limitBytes)
      await naming.run(() => disk.rename(temporary, pathOf(blob.sha256)))
      await disk.syncDir(dir)
      return blob
    } catch (error) {
      await disk.remove(temporary)
      throw error
    } finally {
      await file.close()
    }
  }

  async function stat(sha256: string): Promise<StoredBlob | undefined> {
    const found = await disk.stat(pathOf(sha256))
    return found === undefined ? undefined : { sha256, sizeBytes: found.sizeBytes }
  }

  async function list(): Promise<string[]> {
    return (await disk.list(dir)).filter(isBlobName)
  }

  async function sweepOne(sha256: string, rule: SweepRule): Promise<boolean> {
    const found = await disk.stat(pathOf(sha256))
    if (found === undefined || found.modifiedMs >= rule.olderThanMs || (await rule.isReferenced(sha256))) return false
    await disk.remove(pathOf(sha256))
    return true
  }

  async function remove(sha256: string): Promise<void> {
    await naming.run(() => disk.remove(pathOf(sha256)))
  }

  async function sweep(rule: SweepRule): Promise<string[]> {
    const removed: string[] = []
    for (const sha256 of await list()) if (await naming.run(() => sweepOne(sha256, rule))) removed.push(sha256)
    return removed
  }

  await disk.makeDir(dir)
  await disk.syncDir(dirname(resolve(dir)))
  for (const name of await disk.list(dir)) if (name.startsWith(INCOMING)) await disk.remove(`${dir}/${name}`)
  const read = (sha256: string, range?: ByteRange) => chunksOf({ disk, dir }, sha256, range)
  return { put, stat, read, list, remove, sweep }
}

/** @throws AppError not_found on an invalid name */
function pathIn(dir: string, sha256: string): string {
  if (!isBlobName(sha256)) throw new AppError('not_found', 'File not found.')
  return `${dir}/${sha256}`
}

type Folder = { readonly disk: Disk; readonly dir: string }

async function* chunksOf({ disk, dir }: Folder, sha256: string, range?: ByteRange): AsyncGenerator<Uint8Array> {
  await using file = await disk.open(pathIn(dir, sha256), 'read')
  const end = range ? range.end + 1 : await file.sizeBytes()
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  for (let at = range?.start ?? 0; at < end; ) {
    const length = await file.read(buffer.subarray(0, Math.min(READ_BYTES, end - at)), at)
    if (length === 0) throw new Error(`${sha256} is shorter than ${end} bytes`)
    yield buffer.subarray(0, length)
    at += length
  }
}

async function drain(file: DiskFile, source: AsyncIterable<Uint8Array>, limitBytes: number): Promise<StoredBlob> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const chunk of source) {
    if (sizeBytes + chunk.byteLength > limitBytes)
      throw new AppError('too_large', `Files can be at most ${limitBytes} bytes.`)
    await writeFully(file, chunk, sizeBytes)
    hash.update(chunk)
    sizeBytes += chunk.byteLength
  }
  await file.datasync()
  return { sha256: hash.digest('hex'), sizeBytes }
}
