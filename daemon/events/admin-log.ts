import { isDeepStrictEqual } from 'node:util'
import type { OperatorEventType } from '../../src/model/event-types.ts'
import type { JsonObject } from '../../src/model/service.ts'
import { nextNumber } from '../kernel/rows.ts'
import type { Draw } from '../store/draw.ts'
import type { Tx } from '../store/port.ts'
import { emitAct } from './event-log.ts'
import { adminActs } from './rows.ts'

/** An action that may change something is also an event type; a read is not. */
type Change = { readonly act: OperatorEventType; readonly changed: boolean }
type Read = { readonly act: string; readonly changed: false }

export type AdminAct = (Change | Read) & {
  readonly subject: { readonly kind: string; readonly id: string }
  /** The administrator's reason. */
  readonly reason?: string | null
  readonly detail?: JsonObject
  /** Request id, business time and wall time of the action, and the client session of a read. */
  readonly by: {
    readonly requestId: string
    readonly now: number
    readonly wall: number
    readonly sitting?: string | undefined
    readonly isGlance?: boolean
  }
}

/** Number of newest actions searched for an earlier entry of the same read. */
const SITTING_ACTS = 100

/**
 * Logs an administrator's read in the transaction `t`. A read repeated in a client session is logged once. So are all
 * its glances together: a session that reads under the cursor leaves one line that says so.
 */
export async function auditRead(
  t: Tx,
  draw: Draw,
  read: Omit<AdminAct, 'act' | 'changed'> & Pick<Read, 'act'>,
): Promise<void> {
  const { sitting, isGlance } = read.by
  const glanced = { subject: { kind: 'sitting', id: sitting ?? '' }, detail: { glance: true } }
  const act = isGlance && sitting !== undefined ? { ...read, ...glanced } : read
  const detail = { ...act.detail, ...(sitting === undefined ? {} : { sitting }) }
  const { rows } =
    sitting === undefined ? { rows: [] } : await t.table(adminActs).page('seq', [], { limit: SITTING_ACTS })
  const isSame = (row: (typeof rows)[number]) => row.act === act.act && row.subject_id === act.subject.id
  if (rows.some((row) => isSame(row) && isDeepStrictEqual(row.detail, detail))) return
  await audit(t, draw, { ...act, detail, changed: false })
}

const ADMINISTRATOR = 'admin'
const ACT_COUNTER = 'admin_acts'

/** Logs an administrator's action in the transaction `t`. An action that changed something also emits an event. */
export async function audit(t: Tx, draw: Draw, act: AdminAct): Promise<void> {
  const seq = await nextNumber(t, ACT_COUNTER)
  const { subject, by, detail = {}, reason = null } = act
  await t.table(adminActs).insert({
    id: String(seq),
    seq,
    at: by.now,
    wall_at: by.wall,
    actor: ADMINISTRATOR,
    request_id: by.requestId,
    act: act.act,
    subject_kind: subject.kind,
    subject_id: subject.id,
    reason,
    changed: act.changed,
    detail,
  })
  if (act.changed) {
    const data = reason === null ? detail : { ...detail, reason }
    await emitAct(t, draw, { type: act.act, subject, data, at: by.now })
  }
}
