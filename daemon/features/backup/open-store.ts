import { join } from 'node:path'
import { compact } from '../../../src/core/record.ts'
import type { Config } from '../../../src/model/start.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Disk } from '../../store/disk.ts'
import { type LowdbStore, openLowdbStore } from '../../store/lowdb/open.ts'
import type { AnyCollection } from '../../store/port.ts'
import { STORE_FOLDER } from './replace.ts'
import { diskFull, isNoSpace } from './storage.ts'

export type StoreParts = {
  readonly config: Config
  readonly collections: readonly AnyCollection[]
  readonly disk: Disk | undefined
  readonly log: Log
  readonly machine: Clock
  readonly onFatal: ((error: Error) => void) | undefined
  /** Called with the percentage of the files read. */
  readonly onLoaded?: (percent: number) => void
}

/** @throws AppError `unavailable` when the disk is full; passes on all other errors of opening the store. */
export async function openStore(parts: StoreParts): Promise<LowdbStore> {
  const { config, collections, disk, log, machine, onFatal, onLoaded } = parts
  try {
    return await openLowdbStore({
      dir: join(config.dataDir, STORE_FOLDER),
      collections,
      durability: config.durability,
      now: machine.wall,
      onFatal: (error) => {
        log.error({ source: 'store', err: String(error) }, 'the store stopped')
        onFatal?.(error)
      },
      ...compact({ disk, onLoaded, rows: config.rows }),
    })
  } catch (error) {
    throw isNoSpace(error) ? diskFull(config.dataDir, error) : error
  }
}
