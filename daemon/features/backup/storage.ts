import { AppError } from '../../../src/core/error.ts'
import { compact } from '../../../src/core/record.ts'
import { defineResource } from '../../kernel/context.ts'
import { DEFAULT_RESERVE_BYTES } from '../../store/lowdb/space.ts'
import type { OpenedStore } from '../../store/postgres/opened.ts'

/** What the daemon's start removed from the end of the journal. */
export type JournalCut = {
  /** `unfinished`: a write never acknowledged. `damaged`: bytes changed after writing. `missing`: lost lines. */
  readonly kind: 'unfinished' | 'damaged' | 'missing'
  readonly droppedBytes: number
  /** Number of durable transactions that are certainly lost. */
  readonly missingTransactions: number
}

export type Storage = {
  readonly cut: JournalCut | undefined
  /** Whether all writes are refused because the disk is full. */
  readonly isFull: () => Promise<boolean>
  readonly shrink: () => Promise<void>
} & Pick<OpenedStore, 'describe' | 'isAway'>

export const storage = defineResource<Storage>('storage')

type StorageParts = Pick<OpenedStore, 'recovery' | 'isFull' | 'shrink' | 'describe' | 'isAway'>

export function storageOf({ recovery, isFull, shrink, describe, isAway }: StorageParts): Storage {
  return {
    cut: cutOf(recovery),
    // A file system that reports no size counts as not full.
    isFull: () => isFull().catch(() => false),
    shrink,
    ...compact({ describe, isAway }),
  }
}

function cutOf({ torn, loss }: OpenedStore['recovery']): JournalCut | undefined {
  if (!torn && !loss) return undefined
  return { kind: kindOf(loss), droppedBytes: torn?.droppedBytes ?? 0, missingTransactions: loss?.transactions ?? 0 }
}

function kindOf(loss: OpenedStore['recovery']['loss']): JournalCut['kind'] {
  if (!loss) return 'unfinished'
  return loss.damagedLines > 0 ? 'damaged' : 'missing'
}

const endings: Readonly<Record<JournalCut['kind'], (cut: JournalCut) => string>> = {
  unfinished: () => 'they were an unfinished, unacknowledged write',
  damaged: (cut) => `${lost(cut)}: their bytes are corrupted; a copy is in quarantine`,
  missing: (cut) => `${lost(cut)}: the end of the journal is missing`,
}

function lost({ missingTransactions: count }: JournalCut): string {
  return `at least ${count} ${count === 1 ? 'transaction that was' : 'transactions that were'} durable is lost`.replace(
    'were durable is',
    'were durable are',
  )
}

export function cutSentence(cut: JournalCut): string {
  return `Opening the store truncated its journal by ${cut.droppedBytes} bytes; ${endings[cut.kind](cut)}.`
}

const MB = 1024 * 1024

/** An `unavailable` error for a full disk. Its message says what the operator can do. */
export function diskFull(dataDir: string, cause?: unknown): AppError {
  return new AppError(
    'unavailable',
    `The disk of ${dataDir} is full: souk keeps ${DEFAULT_RESERVE_BYTES / MB} MB free. Free some space (df -h ${dataDir}), then start again.`,
    cause === undefined ? {} : { cause },
  )
}

/** Whether a full disk caused the error, directly or through its chain of causes. */
export function isNoSpace(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && (at.code === 'ENOSPC' || at.code === 'EDQUOT')) return true
  }
  return false
}
