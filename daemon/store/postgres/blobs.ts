import { createHash } from 'node:crypto'
import { AppError } from '../../../src/core/error.ts'
import { type BlobStore, type ByteRange, isBlobName, type StoredBlob, type SweepRule } from '../blobs.ts'
import { StoreStopped } from '../errors.ts'
import type { Connection, PgRow } from './connection.ts'
import type { Pool } from './pool.ts'

const PART_BYTES = 256 * 1024

/** Uploads that ended before their file was complete. */
export async function removeUnfinished(connection: Connection): Promise<void> {
  await connection.script(
    'delete from souk_blob_parts p where not exists (select 1 from souk_blobs b where b.upload = p.upload)',
  )
}

/**
 * Files as rows. An upload writes its parts, and becomes a file when its hash is known, if the instance still has the
 * database: whoever took it over has removed the parts of unfinished uploads.
 */
export function pgBlobs(pool: Pool, instance: string): BlobStore {
  const ask: AskBlobs = (text, values = []) => pool.retry((connection) => connection.query(text, values))

  async function found(sha256: string) {
    if (!isBlobName(sha256)) throw new AppError('not_found', 'File not found.')
    const [row] = await ask('select size::float8, upload::float8 from souk_blobs where sha = $1', [sha256])
    return row && { sizeBytes: Number(row.size), upload: Number(row.upload) }
  }

  async function put(source: AsyncIterable<Uint8Array>, limitBytes: number): Promise<StoredBlob> {
    const [next] = await ask(`select nextval('souk_uploads')::float8 as upload`)
    const upload = Number(next?.upload)
    try {
      const { sha256, sizeBytes } = await writeParts({ pool, upload }, source, limitBytes)
      const [row] = await ask(
        `insert into souk_blobs (sha, size, upload) select $1::text, $2::int8, $3::int8 from (
            select 1 from souk_instances where id = $4 for share) own
          on conflict (sha) do update set at = clock_timestamp() returning upload::float8`,
        [sha256, sizeBytes, upload, instance],
      )
      if (row === undefined) throw new StoreStopped('another daemon took over the database')
      if (Number(row?.upload) !== upload) await removeParts(upload)
      return { sha256, sizeBytes }
    } catch (error) {
      // The next start removes what is left.
      await removeParts(upload).catch(() => undefined)
      throw error
    }
  }

  const removeParts = (upload: number) => ask('delete from souk_blob_parts where upload = $1', [upload])

  async function removeWhere(condition: string, values: Values): Promise<boolean> {
    const rows = await ask(`delete from souk_blobs where ${condition} returning upload::float8`, values)
    for (const { upload } of rows) await removeParts(Number(upload))
    return rows.length > 0
  }

  async function stat(sha256: string): Promise<StoredBlob | undefined> {
    const known = await found(sha256)
    return known && { sha256, sizeBytes: known.sizeBytes }
  }

  const list = async () => (await ask('select sha from souk_blobs order by sha')).map(({ sha }) => String(sha))

  async function* read(sha256: string, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const known = await found(sha256)
    if (known === undefined) throw new Error(`${sha256} does not exist`)
    const start = range?.start ?? 0
    const end = range ? range.end + 1 : known.sizeBytes
    for (let n = Math.floor(start / PART_BYTES); n * PART_BYTES < end; n += 1) {
      const [row] = await ask('select bytes from souk_blob_parts where upload = $1 and n = $2', [known.upload, n])
      if (row === undefined) throw new Error(`${sha256} is shorter than ${end} bytes`)
      yield (row.bytes as Buffer).subarray(Math.max(0, start - n * PART_BYTES), end - n * PART_BYTES)
    }
  }

  const remove = async (sha256: string) => void (await removeWhere('sha = $1', [sha256]))
  return { put, stat, list, sweep: sweeper(ask, removeWhere), read, remove }
}

type Values = readonly (string | number)[]
type AskBlobs = (text: string, values?: Values) => Promise<readonly PgRow[]>

function sweeper(ask: AskBlobs, removeWhere: (condition: string, values: Values) => Promise<boolean>) {
  return async ({ isReferenced, olderThanMs }: SweepRule): Promise<string[]> => {
    const age = String(olderThanMs)
    const removed: string[] = []
    for (const { sha } of await ask('select sha from souk_blobs where at < to_timestamp($1::float8 / 1000)', [age])) {
      const sha256 = String(sha)
      if (await isReferenced(sha256)) continue
      // A new upload of the same content makes the file young again.
      if (await removeWhere('sha = $1 and at < to_timestamp($2::float8 / 1000)', [sha256, age])) removed.push(sha256)
    }
    return removed
  }
}

type Upload = { readonly pool: Pool; readonly upload: number }

async function writeParts({ pool, upload }: Upload, source: AsyncIterable<Uint8Array>, limitBytes: number) {
  const hash = createHash('sha256')
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  let sizeBytes = 0
  let parts = 0

  async function flush(bytes: Buffer): Promise<void> {
    const n = parts
    parts += 1
    await pool.retry((connection) =>
      connection.query('insert into souk_blob_parts values ($1, $2, $3) on conflict do nothing', [upload, n, bytes]),
    )
  }

  for await (const chunk of source) {
    if (sizeBytes + chunk.byteLength > limitBytes)
      throw new AppError('too_large', `Files can be at most ${limitBytes} bytes.`)
    hash.update(chunk)
    sizeBytes += chunk.byteLength
    // The source may use the buffer again.
    pending.push(Uint8Array.from(chunk))
    pendingBytes += chunk.byteLength
    if (pendingBytes < PART_BYTES) continue
    const all = Buffer.concat(pending)
    let at = 0
    for (; all.length - at >= PART_BYTES; at += PART_BYTES) await flush(all.subarray(at, at + PART_BYTES))
    pending = [all.subarray(at)]
    pendingBytes = all.length - at
  }
  if (pendingBytes > 0) await flush(Buffer.concat(pending))
  return { sha256: hash.digest('hex'), sizeBytes }
}
