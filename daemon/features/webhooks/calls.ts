import { HOUR_MS } from '../../../src/core/time.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { draftOf, type NewCall, recordOneTry } from './queue.ts'
import { type DeliveryRow, deliveries } from './rows.ts'
import type { SentAttempt } from './send.ts'

/* Direct calls: calls to endpoints while a caller waits. They are recorded like deliveries but never queued. */

/** Maximum unpaid calls kept per provider, so that callers who never pay cannot store more. The oldest is dropped. */
export const MAX_UNPAID_CALLS = 1_000
/** Providers are notified of each unpaid call, unless more than `MAX_UNPAID_CALLS` happen within this time. */
const TOLD_WITHIN_MS = HOUR_MS
const INTERRUPTED = 'this marketplace stopped during the call'
const FIRST_FAILURE_STATUS = 300

/** Records a call before it is made. */
export async function beginCall(t: Tx, draw: Draw, call: NewCall): Promise<DeliveryRow> {
  return t.table(deliveries).insert({ ...(await draftOf(t, draw, call)), open: false, next_at: null, max_tries: 1 })
}

type Ended = {
  readonly id: string
  readonly tries: readonly SentAttempt[]
  /** Why the call ended without a response. */
  readonly reason: string | undefined
  readonly now: number
}

/** Records the result of a call, unless the call has already ended as unpaid. */
export async function endCall(t: Tx, draw: Draw, { id, tries, reason, now }: Ended): Promise<void> {
  const begun = await t.table(deliveries).getForUpdate(id)
  if (begun?.state !== 'pending') return
  let row: DeliveryRow = begun
  for (const [index, sent] of tries.entries()) {
    const maxTries = reason === undefined ? tries.length : tries.length + 1
    row = await recordOneTry(t, draw, { row: { ...row, open: false, max_tries: maxTries, tries: index }, sent, now })
  }
  if (reason !== undefined) await t.table(deliveries).put({ ...row, ...dead(reason), at: now })
  else if (row.open) await t.table(deliveries).put({ ...row, open: false })
}

function dead(reason: string) {
  return { state: 'dead', open: false, next_at: null, reason } as const
}

/**
 * Marks a call as unpaid, and drops the oldest unpaid call above the limit.
 * @returns whether to notify the provider. False if the call did not reach the provider or failed there, or after too
 * many unpaid calls.
 */
export async function markUnpaid(t: Tx, id: string, now: number): Promise<boolean> {
  const table = t.table(deliveries)
  const call = await table.getForUpdate(id)
  if (!call) return false
  const end = call.state === 'pending' ? dead(INTERRUPTED) : {}
  await table.put({ ...call, ...end, unpaid: true, at: now })
  const last = call.attempts.at(-1)
  const knows = last?.never_sent === true || (last?.status ?? 0) >= FIRST_FAILURE_STATUS
  return !(await forgetOldest(t, call.participant_id, now)) && !knows
}

/** Drops the oldest unpaid call above the limit. @returns whether the dropped call was recent */
async function forgetOldest(t: Tx, participantId: string, now: number): Promise<boolean> {
  const table = t.table(deliveries)
  if ((await table.count('unpaid', [participantId])) <= MAX_UNPAID_CALLS) return false
  const [oldest] = (await table.page('unpaid', [participantId], { limit: 1 })).rows
  if (!oldest) return false
  await table.delete(oldest.id)
  return now - oldest.created_at < TOLD_WITHIN_MS
}
