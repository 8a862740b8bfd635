import { join } from 'node:path'
import type { Config } from '../../kernel/config.ts'
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
}

/** @throws AppError unavailable where there is no room, and what opening throws. */
export async function openStore({ config, collections, disk, log, machine, onFatal }: StoreParts): Promise<LowdbStore> {
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
      ...(disk ? { disk } : {}),
    })
  } catch (error) {
    throw isNoSpace(error) ? diskFull(config.dataDir, error) : error
  }
}
