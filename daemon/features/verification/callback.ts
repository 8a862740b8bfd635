import { z } from 'zod'
import { AppError, notFound } from '../../../src/core/error.ts'
import type { Context } from '../../kernel/context.ts'
import { defineResource } from '../../kernel/resource.ts'
import { settings } from '../../kernel/rows.ts'
import { type SignedCallback, sandboxVendor, type VendorDecision, type VerificationVendor } from '../../ports/vendor.ts'
import { commit, type Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { stepAttempt } from './attempts.ts'
import { attemptStatusAt } from './machine.ts'
import { type AttemptRow, attempts } from './rows.ts'

export const VENDOR = 'verification_vendor'
const SECRET_BYTES = 32
const Setting = z.strictObject({ callback_secret: z.string() })

export const verificationVendor = defineResource<VerificationVendor>('verification-vendor')

/** The sandbox's verification vendor. A secret of this installation signs its callbacks (decisions §6). */
export async function openVendor(parts: Pick<Context, 'store' | 'entropy'>): Promise<VerificationVendor> {
  const fresh = { callback_secret: parts.entropy(SECRET_BYTES).toString('hex') }
  const { callback_secret } = await commit(parts, async (t) => {
    const known = await t.table(settings).getForUpdate(VENDOR)
    if (known) return Setting.parse(known.value)
    await t.table(settings).put({ id: VENDOR, value: fresh })
    return fresh
  })
  return sandboxVendor(Buffer.from(callback_secret, 'hex'))
}

export type Received = {
  readonly callback: SignedCallback
  readonly decision: VendorDecision
  readonly now: number
  readonly wall: number
  /** Further writes in the decision's transaction. */
  readonly also?: (t: Tx, draw: Draw, attempt: AttemptRow) => Promise<void>
}

/**
 * Applies a vendor decision. Repeating it changes nothing, so callbacks can be retried and replayed.
 * @throws AppError 401 for an invalid or old signature, 404, 409 invalid_transition
 */
export async function takeDecision(ctx: Context, received: Received): Promise<AttemptRow> {
  const { callback, decision, now, wall, also } = received
  if (!verificationVendor.of(ctx).isGenuine(callback, wall)) {
    throw new AppError('unauthorized', 'The callback has no valid vendor signature, or its timestamp is not current.')
  }
  return commit(ctx, async (t, draw) => {
    const found = (await t.table(attempts).page('session', [decision.session_id], { limit: 1 })).rows[0]
    const attempt = found && (await t.table(attempts).getForUpdate(found.id))
    if (!attempt) throw notFound('The session')
    if (attemptStatusAt(attempt, { now, wall }) === decision.decision && also === undefined) return attempt
    const event = decision.decision === 'approved' ? 'approve' : 'reject'
    const change = { reason: decision.reason ?? null }
    const decided = await stepAttempt(t, draw, { attempt, event, by: 'vendor', now, wall, change })
    await also?.(t, draw, decided)
    return decided
  })
}
