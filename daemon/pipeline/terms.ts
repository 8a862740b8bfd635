import type { Endpoint } from '../../src/api/endpoint/define.ts'
import { refuseUnaccepted } from '../features/participants/terms.ts'
import type { Context } from '../kernel/context.ts'
import type { ParticipantRow } from '../kernel/rows.ts'

/**
 * Writes of listings, plans, products and bids ask for accepted terms while the switch is on (decisions §3).
 * @throws AppError terms_required with `terms_version` and `terms_url`.
 */
export function refuseWithoutTerms(ctx: Context, row: Endpoint, caller: unknown): void {
  if (!row.needsTerms || row.access.kind !== 'key') return
  refuseUnaccepted(ctx, (caller as ParticipantRow).terms_version) // key rows have a participant for caller
}
