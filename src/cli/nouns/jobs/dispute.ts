import type { WireAnswer } from '../../../api/index.ts'
import { AppError } from '../../../core/error.ts'
import { isObject } from '../../../core/json.ts'
import { endings } from '../../../model/job.ts'
import { usage } from '../../exit.ts'
import type { Io } from '../../io.ts'
import * as z from '../../params.ts'
import type { RawCall, Session } from '../../session.ts'

type Dispute = NonNullable<WireAnswer<'resolveJob'>['dispute']>

const PAYMENT_REQUIRED = 402

/** Text for the help: in which cases a dispute holds money. */
export const disputeHelp =
  "If the payment is still in escrow, a dispute holds it until the decision. The payment for a person's work stays in escrow until the buyer accepts the delivery, at most 48 hours. The result of a program is accepted on delivery, so a dispute about it is only recorded."

export const recordOnly = z
  .boolean()
  .default(false)
  .meta({ description: 'open the dispute even if it can hold no money and is only recorded' })

type Asking = { readonly io: Io; readonly recordOnly: boolean }

/**
 * The value for `must_hold` of a dispute: false if the user accepts a dispute that is recorded but holds no money.
 * @param call - the dispute; it is sent once without payment, to read the notice in the response
 * @throws CliError `usage` without a terminal
 */
export async function mustHold(session: Session, call: RawCall, asking: Asking): Promise<boolean> {
  if (asking.recordOnly) return false
  const { status, body } = await session.send({ ...call, accept: [PAYMENT_REQUIRED] })
  if (status !== PAYMENT_REQUIRED || !isObject(body) || typeof body.notice !== 'string') return true
  await agree(body.notice, asking)
  return false
}

/**
 * Sends a dispute that must hold money. If no money can be held, asks the user, then sends one that is only recorded.
 */
export async function heldOrAgreed<T>(send: (mustHold: boolean) => Promise<T>, asking: Asking): Promise<T> {
  if (asking.recordOnly) return send(false)
  try {
    return await send(true)
  } catch (error) {
    if (!(error instanceof AppError) || error.extra.effect !== 'recorded') throw error
    await agree(error.message, asking)
    return send(false)
  }
}

/** Text that says what happens to an open dispute if nobody decides it, or how it ended. */
export function disputeText({ status, decision, resolution, resolved_by, resolution_reason }: Dispute): string {
  if (status === 'recorded') return 'recorded; it moves no money'
  if (status === 'resolved') {
    return `${resolution ?? 'resolved'}, ${resolved_by === 'admin' ? 'by the operator' : 'automatically'}: ${resolution_reason ?? 'no reason given'}`
  }
  if (!decision?.outcome || decision.at === null) {
    return 'open; the operator decides, and the payment is held until then'
  }
  return `open; if the operator does not decide before ${decision.at}, ${endings[decision.outcome]}`
}

async function agree(notice: string, { io }: Asking): Promise<void> {
  if (!io.canAsk) throw usage(notice, { facts: ['nothing was recorded or charged'], next: ['… --record-only'] })
  io.warn(notice)
  await io.confirm('Open the dispute anyway, for the record?')
}
