import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { workerFile } from '../../../src/core/folder.ts'
import { bigintsAmong } from '../engine/bigints.ts'
import type { FileBatch, Mover } from '../level/level.ts'
import type { AnyCollection } from '../port.ts'

/* Starts the thread that moves rows from the journal to LevelDB, so that encoding them delays no transaction. */

/** A collection without its schema, which a thread cannot be given. */
export type PlainCollection = Pick<AnyCollection, 'name' | 'key' | 'indexes'> & {
  /** Indexed members that are bigints. */
  readonly bigints: readonly string[]
}

export type Moving = FileBatch & {
  /** Folder of the LevelDB database. */
  readonly dir: string
  readonly collections: readonly PlainCollection[]
}

/** @returns a function that runs one thread per call. It throws if the thread ends without an answer. */
export function moverOf(dir: string, all: readonly AnyCollection[]): Mover {
  const collections = all.map(plain)
  return async (batch) => {
    const workerData = { ...batch, dir, collections } satisfies Moving
    const thread = new Worker(workerFile(import.meta.url, './rows'), { workerData, env: {} })
    const ended = once(thread, 'exit').then(([code]) => {
      throw new Error(`the thread that moves rows to the disk ended with ${code}`)
    })
    const [records] = await Promise.race([once(thread, 'message'), ended])
    // It said what it did, and ends by itself.
    await ended.catch(() => undefined)
    return Number(records)
  }
}

function plain({ name, key, indexes, schema }: AnyCollection): PlainCollection {
  const members = indexes.flatMap(({ fields, where }) => [...fields, ...(where ? [where.field] : [])])
  return { name, key, indexes, bigints: bigintsAmong(name, schema, [...new Set(members)]) }
}
