import { join } from 'node:path'
import { compact } from '../../../src/core/record.ts'
import type { Config } from '../../../src/model/start.ts'
import { answersUrl, instanceLabel } from '../../kernel/config.ts'
import { type FrontKeys, requireAdminKey } from '../../kernel/identity.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Disk } from '../../store/disk.ts'
import { LEVEL_FROM_BYTES } from '../../store/lowdb/first.ts'
import { openLowdbStore } from '../../store/lowdb/open.ts'
import type { AnyCollection, Store } from '../../store/port.ts'
import { type OpenedStore, openDatabase, refuseWithoutDatabase } from '../../store/postgres/opened.ts'
import type { Holder } from '../../store/postgres/spare.ts'
import { STORE_FOLDER } from './import-state.ts'
import { diskFull, isNoSpace } from './storage.ts'

export type StoreParts = {
  readonly config: Config
  readonly collections: readonly AnyCollection[]
  readonly disk: Disk | undefined
  readonly log: Log
  readonly machine: Clock
  readonly onFatal: ((error: Error) => void) | undefined
  /** Aborted when the daemon is to end. */
  readonly stopping?: AbortSignal
  /** Port of the daemon, for others that hand it requests (default: they cannot). */
  readonly port?: number
  /** Called again and again while a spare waits, with the daemon that has the store; undefined when none has it. */
  readonly onHolder?: (holder: (Holder & Partial<FrontKeys>) | undefined) => void
  /** Called with the percentage of the files read. */
  readonly onLoaded?: (percent: number) => void
}

const levelFrom = { memory: Number.POSITIVE_INFINITY, disk: 0, auto: LEVEL_FROM_BYTES } as const

/** @throws AppError `unavailable` when the disk is full; passes on all other errors of opening the store. */
export async function openStore(parts: StoreParts): Promise<OpenedStore> {
  const { config, collections, disk, log, machine, onFatal, onLoaded, onHolder, port, stopping } = parts
  const { dataDir, store } = config
  const stopped = (error: Error): void => {
    log.error({ source: 'store', err: String(error) }, 'the store stopped')
    onFatal?.(error)
  }
  if (store !== undefined) {
    let keys: FrontKeys | undefined
    const spare = {
      check: async (found: Pick<Store, 'table'>) => {
        keys = await requireAdminKey({ store: found, dataDir })
      },
      onHolder: (holder: Holder | undefined) => onHolder?.(holder && { ...holder, ...keys }),
    }
    return openDatabase({
      store,
      dataDir,
      collections,
      onFatal: stopped,
      label: instanceLabel(),
      ...compact({ stopping }),
      ...(port === undefined
        ? {}
        : { answersAt: (own) => ({ url: answersUrl(config, port, own), ...compact({ cert: config.tls?.cert }) }) }),
      ...(config.spare ? { spare } : {}),
    })
  }
  refuseWithoutDatabase(dataDir)
  try {
    const opened = await openLowdbStore({
      dir: join(dataDir, STORE_FOLDER),
      collections,
      durability: config.durability,
      now: machine.wall,
      onFatal: stopped,
      levelFrom: levelFrom[config.rows ?? 'auto'],
      ...compact({ disk, onLoaded }),
    })
    const { note } = opened
    return { ...opened, ...(note === undefined ? {} : { describe: async () => note }) }
  } catch (error) {
    throw isNoSpace(error) ? diskFull(dataDir, error) : error
  }
}
