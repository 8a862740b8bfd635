import type { Disk } from '../disk.ts'
import type { LevelDb } from './db.ts'

type Rows = ReadonlyMap<string, Buffer>
const latin = (key: Buffer): string => key.toString('latin1')
const bytesOf = (key: string): Buffer => Buffer.from(key, 'latin1')

/** LevelDB in memory, on a disk whose power may go at any step. */
export type SimulatedDb = {
  open(dir: string, createIfMissing?: boolean): Promise<LevelDb>
  /** As it is found after the cut, on the disk that is. */
  survivor(disk: Disk): SimulatedDb
}

/** @param options.isSynced - false for one that says of batches that they are durable when they are not. */
export function simulatedDb(
  disk: Disk,
  { isSynced = true, durable }: { isSynced?: boolean; durable?: Rows } = {},
): SimulatedDb {
  let [rows, kept] = [durable ?? new Map(), durable]

  /** Fails where the power is gone. */
  const step = (): Promise<void> => disk.syncDir('level')

  async function change(next: Rows): Promise<void> {
    await step()
    rows = next
    if (isSynced || kept === undefined) kept = rows
    await step()
  }

  return {
    survivor: (onto) => simulatedDb(onto, { isSynced, ...(kept ? { durable: kept } : {}) }),
    async open(_dir, createIfMissing) {
      if (kept === undefined && createIfMissing !== true) throw new Error('there is no LevelDB')
      kept ??= new Map()
      return openedDb(() => rows, change)
    },
  }
}

function openedDb(current: () => Rows, change: (next: Rows) => Promise<void>): LevelDb {
  type At = { readonly snapshot?: { readonly rows?: Rows } & object }
  const seen = (from: At | undefined): Rows => from?.snapshot?.rows ?? current()
  const within = ({ gte, lt, reverse, limit, ...from }: Parameters<LevelDb['keys']>[0]) => {
    const keys = [...seen(from).keys()].filter((key) => key >= latin(gte) && key < latin(lt)).sort()
    if (reverse === true) keys.reverse()
    return keys.slice(0, limit)
  }
  const walk = <T>(items: T[]) => ({
    all: async () => items,
    nextv: async (size: number) => items.splice(0, size),
    close: async () => undefined,
    async *[Symbol.asyncIterator]() {
      yield* items
    },
  })
  return {
    getSync: (key, from) => seen(from).get(latin(key)),
    getMany: async (keys, from) => keys.map((key) => seen(from).get(latin(key))),
    keys: (range) => walk(within(range).map(bytesOf)),
    iterator: (range) =>
      walk(within(range).map((key): [Buffer, Buffer] => [bytesOf(key), seen(range).get(key) ?? Buffer.alloc(0)])),
    batch() {
      const next = new Map(current())
      return {
        put: (key, value) => next.set(latin(key), value),
        del: (key) => next.delete(latin(key)),
        write: () => change(next),
        close: async () => undefined,
      }
    },
    snapshot: () => Object.assign({ close: async () => undefined }, { rows: current() }),
    approximateSize: async () => 0,
    clear: (range) => {
      const gone = new Set(range && within(range))
      return change(new Map([...current()].filter(([key]) => range !== undefined && !gone.has(key))))
    },
    close: async () => undefined,
  }
}
