/** A call that breaks the rules of the port: nested, used up, unheld, too slow. Always a bug of the caller. */
export class StoreMisuse extends Error {
  override readonly name = 'StoreMisuse'
}

/** The store has stopped: closed, or a write or sync failed and nothing more is accepted. */
export class StoreStopped extends Error {
  override readonly name = 'StoreStopped'
}

/** A written row does not fit the schema of its collection; `cause` is the ZodError. */
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

/** `increment` of a row that is not there. */
export class RowMissing extends Error {
  override readonly name = 'RowMissing'
  readonly collection: string
  readonly key: string
  constructor(collection: string, key: string) {
    super(`${collection} ${key} is not there`)
    this.collection = collection
    this.key = key
  }
}

/** Another process, or this one, holds the data directory. */
export class StoreLocked extends Error {
  override readonly name = 'StoreLocked'
  readonly dir: string
  constructor(dir: string) {
    super(`${dir} is in use by another souk daemon`)
    this.dir = dir
  }
}

/** The command that mends what the store refuses to guess about. */
export const REPAIR_COMMAND = 'souk doctor --repair'

/** Stored bytes are damaged where no crash of ours can have left them so; nothing was changed. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged'
  readonly file: string
  /** First byte that cannot be trusted. */
  readonly offset: number
  readonly repair = REPAIR_COMMAND
  constructor(file: string, offset: number, what: string) {
    super(`${file} is damaged at byte ${offset}: ${what}. Run ${REPAIR_COMMAND}`)
    this.file = file
    this.offset = offset
  }
}

/** What is stored does not fit into the memory of this process; nothing was changed. */
export class StoreTooLarge extends Error {
  override readonly name = 'StoreTooLarge'
  readonly repair = REPAIR_COMMAND
  constructor(dir: string, limitMb: number) {
    super(
      `${dir} holds more than fits into the ${limitMb} MB of memory that this process may use. Run ${REPAIR_COMMAND}, which drops what nobody needs any more, or give it more: NODE_OPTIONS=--max-old-space-size=${limitMb * 2}`,
    )
  }
}

/** The directory was written by a newer souk, or holds something this one does not know. */
export class StoreFormatUnknown extends Error {
  override readonly name = 'StoreFormatUnknown'
}
