import { DAY_MS, dayOf } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { recoverSettlements } from './flights.ts'
import { facilitatorDays, settlements } from './rows.ts'

/** Maximum rows per transaction. */
const SWEEP_ROWS = 200
/** Retention of completed rows. */
const KEEP_MS = 30 * DAY_MS
/** Number of days before today for which day counts are kept. */
const KEPT_DAYS = 2

/**
 * Removes settlements that have expired by machine time. First asks the chain for missing results.
 * @returns the number of removed rows
 */
export async function sweepFacilitated(ctx: Context, signal: AbortSignal): Promise<number> {
  await recoverSettlements(ctx)
  let removed = 0
  for (let last = SWEEP_ROWS; last === SWEEP_ROWS && !signal.aborted; ) {
    last = await sweepSome(ctx)
    removed += last
  }
  return removed
}

function sweepSome({ store, clock }: Context): Promise<number> {
  const wall = clock.wall()
  return store.tx(async (t) => {
    const over = await t.table(settlements).page('needed', [], { limit: SWEEP_ROWS })
    const gone = over.rows.filter((row) => row.needed_until < wall - KEEP_MS && row.state !== 'sent')
    for (const { id } of gone) await t.table(settlements).delete(id)
    const days = await t.table(facilitatorDays).page('day', [], { limit: SWEEP_ROWS })
    const old = days.rows.filter((row) => row.day < dayOf(wall) - KEPT_DAYS)
    for (const { id } of old) await t.table(facilitatorDays).delete(id)
    return Math.max(gone.length, old.length)
  })
}
