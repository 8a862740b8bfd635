import { hash } from 'node:crypto'
import type { Entropy } from '../../src/core/entropy.ts'
import { idPrefixes, type Noun } from '../../src/core/id.ts'
import { type BlobStore, putText } from './blobs.ts'
import { StoreMisuse } from './errors.ts'
import type { Store, Tx } from './port.ts'

const ID_BYTES = 8
const SEED_BYTES = 32

/**
 * Ids and secrets for a transaction body, drawn from a seed taken before it: a body that runs
 * again draws the same ones, as the port's rerun rule asks.
 */
export type Draw = {
  id(noun: Noun): string
  bytes(count: number): Buffer
  /** SHA-256 of a text that is a file before the transaction is made: a record may name it. */
  file(text: string): string
}

type Files = Pick<Draw, 'file'>

const noFiles: Files = {
  file: () => {
    throw new StoreMisuse('no files can be kept here')
  },
}

export function drawFrom(seed: Buffer, { file }: Files = noFiles): Draw {
  let block = 0
  const bytes = (count: number): Buffer => {
    const blocks: Buffer[] = []
    for (let length = 0; length < count; length += SEED_BYTES) {
      blocks.push(hash('sha256', Buffer.concat([seed, Buffer.from(String(block++))]), 'buffer'))
    }
    return Buffer.concat(blocks).subarray(0, count)
  }
  return { bytes, id: (noun) => `${idPrefixes[noun]}${bytes(ID_BYTES).toString('hex')}`, file }
}

/** Runs of a body whose texts have become other ones each time, because what it read has changed meanwhile. */
const MAX_FILE_RUNS = 8

/** A body has named texts that are no files yet. */
class FilesMissing extends Error {
  override readonly name = 'FilesMissing'
}

type Context = {
  readonly store: Store
  readonly entropy: Entropy
  /** Where `Draw.file` keeps what it names. */
  readonly blobs?: Pick<BlobStore, 'put'>
}

/**
 * One transaction with a fresh seed; see `Store.tx` for what a body may do. One that names large texts runs twice: what
 * it names has to be durable before the record is.
 */
export async function commit<T>(ctx: Context, body: (t: Tx, draw: Draw) => Promise<T>): Promise<T> {
  const seed = ctx.entropy(SEED_BYTES)
  const { blobs } = ctx
  if (!blobs) return ctx.store.tx((t) => body(t, drawFrom(seed)))
  const kept = new Set<string>()
  for (let run = 0; run < MAX_FILE_RUNS; run += 1) {
    const missing = new Map<string, string>()
    const file = (text: string): string => {
      const sha256 = hash('sha256', text)
      if (!kept.has(sha256)) missing.set(sha256, text)
      return sha256
    }
    try {
      return await ctx.store.tx(async (t) => {
        missing.clear()
        const value = await body(t, drawFrom(seed, { file }))
        if (missing.size > 0) throw new FilesMissing()
        return value
      })
    } catch (error) {
      if (!(error instanceof FilesMissing)) throw error
      for (const text of missing.values()) kept.add(await putText(blobs, text))
    }
  }
  throw new Error('the large texts of a transaction never came to rest')
}
