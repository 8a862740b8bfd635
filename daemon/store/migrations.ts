/**
 * One step between two formats of the stored rows. Runs on the JSON form of every row of an older store
 * while it is loaded; the store is then rewritten in the current format before it accepts work.
 */
export type Migration = (stored: Stored) => Stored

type Stored = {
  readonly collection: string
  /** null drops the row; a null given is a deletion and stays one. */
  readonly row: unknown
}

/** Takes a stored row through the steps that its format still lacks. */
export function migrated(steps: readonly Migration[], stored: Stored): Stored {
  return steps.reduce((current, step) => step(current), stored)
}

const ENDED = new Set<unknown>(['fulfilled', 'released', 'refunded'])

/** Payments used to keep what was asked for when they had ended, however large it was. */
const bareEndedPayments: Migration = ({ collection, row }) => {
  if (collection !== 'payments' || typeof row !== 'object' || row === null) return { collection, row }
  const isEnded = 'state' in row && ENDED.has(row.state)
  return { collection, row: isEnded ? { ...row, input: null, outcome: null, terms: null } : row }
}

/** Step n turns format n + 1 into format n + 2. Steps are only ever added at the end. */
export const migrations: readonly Migration[] = [bareEndedPayments]

/** The format that this souk writes. */
export const FORMAT = migrations.length + 1
