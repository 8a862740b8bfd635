/** The caller broke a rule of the store: a nested, ended or slow transaction body, or a row not read for update. */
export class StoreMisuse extends Error {
  override readonly name = 'StoreMisuse'
}

/** The store is closed, or a write or sync failed. */
export class StoreStopped extends Error {
  override readonly name = 'StoreStopped'
}

/** A row does not match its schema; `cause` is the ZodError. */
export class RowInvalid extends Error {
  override readonly name = 'RowInvalid'
  readonly collection: string
  readonly key: string
  constructor(collection: string, key: string, cause: unknown) {
    super(`${collection} ${key}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.collection = collection
    this.key = key
  }
}

/** Thrown by `increment` for a missing row. */
export class RowMissing extends Error {
  override readonly name = 'RowMissing'
  readonly collection: string
  readonly key: string
  constructor(collection: string, key: string) {
    super(`${collection} ${key} does not exist`)
    this.collection = collection
    this.key = key
  }
}

/** The data directory is in use. */
export class StoreLocked extends Error {
  override readonly name = 'StoreLocked'
  readonly dir: string
  constructor(dir: string) {
    super(`${dir} is in use by another souk daemon`)
    this.dir = dir
  }
}

export const REPAIR_COMMAND = 'souk doctor --repair'

/** Stored data is damaged in a way that no crash explains; nothing was changed. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged'
  readonly file: string
  /** First bad byte. */
  readonly offset: number
  readonly repair = REPAIR_COMMAND
  constructor(file: string, offset: number, what: string) {
    super(`${file} is damaged at byte ${offset}: ${what}. Run ${REPAIR_COMMAND}`)
    this.file = file
    this.offset = offset
  }
}

/** The data does not fit into memory; nothing was changed. */
export class StoreTooLarge extends Error {
  override readonly name = 'StoreTooLarge'
  readonly repair = REPAIR_COMMAND
  constructor(dir: string, limitMb: number) {
    super(
      `${dir} does not fit in the memory limit of ${limitMb} MB. Run ${REPAIR_COMMAND} to drop unused data, or raise the limit: NODE_OPTIONS=--max-old-space-size=${limitMb * 2}`,
    )
  }
}

/** LevelDB does not run on this machine. */
export class LevelMissing extends Error {
  override readonly name = 'LevelMissing'
  constructor(cause: unknown) {
    super(`LevelDB has no native module that runs on ${process.platform} ${process.arch}`, { cause })
  }
}

/** The data was written by a newer souk, or its content is unknown. */
export class StoreFormatUnknown extends Error {
  override readonly name = 'StoreFormatUnknown'
}
