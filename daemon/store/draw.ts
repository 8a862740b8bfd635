import { hash } from 'node:crypto'
import type { Entropy } from '../../src/core/hex.ts'
import { idPrefixes } from '../../src/core/id-prefixes.ts'
import { type BlobStore, putText, readText } from './blobs.ts'
import { StoreMisuse } from './errors.ts'
import type { Draw, Store, Tx } from './port.ts'

const ID_BYTES = 8
const SEED_BYTES = 32

type Files = Pick<Draw, 'file' | 'text'>

function noFiles(): never {
  throw new StoreMisuse('this store has no files')
}

export function drawFrom(seed: Buffer, { file, text }: Files = { file: noFiles, text: noFiles }): Draw {
  let block = 0
  const bytes = (count: number): Buffer => {
    const blocks: Buffer[] = []
    for (let length = 0; length < count; length += SEED_BYTES) {
      blocks.push(hash('sha256', Buffer.concat([seed, Buffer.from(String(block++))]), 'buffer'))
    }
    return Buffer.concat(blocks).subarray(0, count)
  }
  return { bytes, id: (noun) => `${idPrefixes[noun]}${bytes(ID_BYTES).toString('hex')}`, file, text }
}

/** Maximum runs of a transaction body that needs different texts in each run. */
const MAX_FILE_RUNS = 8

/** Thrown when a transaction's body needs files that are not written or read yet. */
class FilesMissing extends Error {
  override readonly name = 'FilesMissing'
}

type Context = {
  readonly store: Store
  readonly entropy: Entropy
  /** Where `Draw.file` and `Draw.text` keep files. */
  readonly blobs?: Pick<BlobStore, 'put' | 'read'>
}

/**
 * Runs one transaction with a fresh seed; see `Store.tx` for the rules of its body. If a body has large texts, they are
 * stored as files, and the body runs again. So every run must make the same texts. For this, read clocks before the
 * transaction.
 */
export async function commit<T>(ctx: Context, body: (t: Tx, draw: Draw) => Promise<T>): Promise<T> {
  const seed = ctx.entropy(SEED_BYTES)
  const { blobs } = ctx
  if (!blobs) return ctx.store.tx((t) => body(t, drawFrom(seed)))
  const texts = createTexts(blobs)
  for (let run = 0; run < MAX_FILE_RUNS; run += 1) {
    try {
      return await ctx.store.tx(async (t) => {
        texts.begin()
        const value = await body(t, drawFrom(seed, texts))
        texts.refuseMissing()
        return value
      })
    } catch (error) {
      if (!(error instanceof FilesMissing)) throw error
      await texts.fetch()
    }
  }
  throw new Error('each run of a transaction made different large texts')
}

/** Remembers, across the runs of a transaction body, the large texts that it writes to files or reads from files. */
function createTexts(blobs: Pick<BlobStore, 'put' | 'read'>) {
  const kept = new Set<string>()
  const read = new Map<string, string>()
  const unkept = new Map<string, string>()
  let wanted: string | undefined
  return {
    begin(): void {
      unkept.clear()
      wanted = undefined
    },
    file(text: string): string {
      const sha256 = hash('sha256', text)
      if (!kept.has(sha256)) unkept.set(sha256, text)
      return sha256
    },
    text(sha256: string): string {
      const known = read.get(sha256)
      if (known !== undefined) return known
      wanted = sha256
      throw new FilesMissing()
    },
    refuseMissing(): void {
      if (unkept.size > 0 || wanted !== undefined) throw new FilesMissing()
    },
    async fetch(): Promise<void> {
      if (wanted !== undefined) read.set(wanted, await readText(blobs, wanted))
      else
        for (const sha256 of await Promise.all([...unkept.values()].map((text) => putText(blobs, text))))
          kept.add(sha256)
    },
  }
}
