import { hash } from 'node:crypto'
import type { Entropy } from '../../src/core/hex.ts'
import { type IdNoun, idPrefixes } from '../../src/core/id-prefixes.ts'
import { type BlobStore, putText, readText } from './blobs.ts'
import { StoreMisuse } from './errors.ts'
import type { Store, Tx } from './port.ts'

const ID_BYTES = 8
const SEED_BYTES = 32

/**
 * Ids and secrets for a transaction body, drawn from a seed taken before it: a body that runs
 * again draws the same ones, as the port's rerun rule asks.
 */
export type Draw = {
  id(noun: IdNoun): string
  bytes(count: number): Buffer
  /** SHA-256 of a text that is a file before the transaction is made: a record may name it. */
  file(text: string): string
  /** The text of a file that a record names. */
  text(sha256: string): string
}

type Files = Pick<Draw, 'file' | 'text'>

function noFiles(): never {
  throw new StoreMisuse('there are no files here')
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

/** Runs of a body whose texts have become other ones each time, because what it read has changed meanwhile. */
const MAX_FILE_RUNS = 8

/** A body has named texts that are no files yet, or wants one that was not read. */
class FilesMissing extends Error {
  override readonly name = 'FilesMissing'
}

type Context = {
  readonly store: Store
  readonly entropy: Entropy
  /** Where `Draw.file` keeps what it names, and `Draw.text` finds it. */
  readonly blobs?: Pick<BlobStore, 'put' | 'read'>
}

/**
 * One transaction with a fresh seed; see `Store.tx` for what a body may do. One that names large texts, or reads them,
 * runs twice: what it names has to be durable before the record is, and a body waits for the store alone. So it makes
 * the same texts each time: the hour is read before it.
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
  throw new Error('the large texts of a transaction never came to rest')
}

/** The files of one transaction over its runs: what it names that is not kept yet, what it reads that is not here yet. */
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
