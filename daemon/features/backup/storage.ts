import { AppError } from '../../../src/core/error.ts'
import { defineResource } from '../../kernel/resource.ts'
import type { LowdbStore } from '../../store/lowdb/open.ts'
import { DEFAULT_RESERVE_BYTES } from '../../store/lowdb/space.ts'

/** What was cut off the end of the journal when the store was opened. */
export type JournalCut = {
  /** `unfinished`: a write that nobody was told of. `damaged`: bytes that changed later. `missing`: lines that are gone. */
  readonly kind: 'unfinished' | 'damaged' | 'missing'
  readonly droppedBytes: number
  /** Transactions that were durable and are certainly gone. */
  readonly missingTransactions: number
}

export type Storage = {
  readonly cut: JournalCut | undefined
  /** Whether every write is refused for want of room. */
  readonly isFull: () => Promise<boolean>
  /** Writes the files anew, without what is gone; where there is room for that. */
  readonly shrink: () => Promise<void>
}

export const storage = defineResource<Storage>('storage')

export function storageOf({ recovery, isFull, shrink }: Pick<LowdbStore, 'recovery' | 'isFull' | 'shrink'>): Storage {
  return {
    cut: cutOf(recovery),
    // A file system that cannot tell is no reason to say that it is full.
    isFull: () => isFull().catch(() => false),
    shrink,
  }
}

function cutOf({ torn, loss }: LowdbStore['recovery']): JournalCut | undefined {
  if (!torn && !loss) return undefined
  return { kind: kindOf(loss), droppedBytes: torn?.droppedBytes ?? 0, missingTransactions: loss?.transactions ?? 0 }
}

function kindOf(loss: LowdbStore['recovery']['loss']): JournalCut['kind'] {
  if (!loss) return 'unfinished'
  return loss.damagedLines > 0 ? 'damaged' : 'missing'
}

const endings: Readonly<Record<JournalCut['kind'], (cut: JournalCut) => string>> = {
  unfinished: () => 'they were an unfinished write, of which nobody had been told',
  damaged: (cut) => `${lost(cut)}: its bytes changed after they were written, and are kept under quarantine`,
  missing: (cut) => `${lost(cut)}: the end of its journal is gone`,
}

function lost({ missingTransactions: count }: JournalCut): string {
  return `at least ${count} ${count === 1 ? 'transaction that was' : 'transactions that were'} durable is lost`.replace(
    'were durable is',
    'were durable are',
  )
}

/** One sentence for people. */
export function cutSentence(cut: JournalCut): string {
  return `The journal of the store was cut when it was opened: ${cut.droppedBytes} bytes were dropped; ${endings[cut.kind](cut)}.`
}

const MB = 1024 * 1024

/** @throws AppError unavailable that says what to do. */
export function diskFull(dataDir: string, cause?: unknown): AppError {
  return new AppError(
    'unavailable',
    `The disk of ${dataDir} is full: souk keeps ${DEFAULT_RESERVE_BYTES / MB} MB of it in reserve and writes nothing below that. Free some space (df -h ${dataDir}), then start again.`,
    cause === undefined ? {} : { cause },
  )
}

/** Whether the system said that there is no room, however deep that lies. */
export function isNoSpace(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && (at.code === 'ENOSPC' || at.code === 'EDQUOT')) return true
  }
  return false
}
