/**
 * One step between two row formats. It runs on the JSON of every row while an older store is loaded. The store is then
 * rewritten before it accepts work.
 */
export type Migration = (stored: Stored) => Stored

type Stored = {
  readonly collection: string
  /** null if the row was deleted. A step returns null to delete a row. A step that gets null must return null. */
  readonly row: unknown
}

/** Applies the missing steps to a stored row. */
export function migrated(steps: readonly Migration[], stored: Stored): Stored {
  return steps.reduce((current, step) => step(current), stored)
}

const ENDED = new Set<unknown>(['fulfilled', 'released', 'refunded'])

/** Removes the input of ended payments, because earlier versions kept it, however large. */
const bareEndedPayments: Migration = ({ collection, row }) => {
  if (collection !== 'payments' || typeof row !== 'object' || row === null) return { collection, row }
  const isEnded = 'state' in row && ENDED.has(row.state)
  return { collection, row: isEnded ? { ...row, input: null, outcome: null, terms: null } : row }
}

/** Step n converts format n + 1 to n + 2. Only append steps. */
export const migrations: readonly Migration[] = [bareEndedPayments]

/** The format that this souk writes. */
export const FORMAT = migrations.length + 1
