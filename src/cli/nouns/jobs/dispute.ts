import type { WireAnswer } from '../../../api/endpoint/define.ts'
import type { Api } from '../../../api/index.ts'
import { AppError } from '../../../core/error.ts'
import { isObject } from '../../../core/json.ts'
import type { Ruling } from '../../../model/job.ts'
import { usage } from '../../exit.ts'
import type { Io } from '../../io.ts'
import * as z from '../../params.ts'
import type { RawCall, Session } from '../../session.ts'

type Dispute = NonNullable<WireAnswer<Api['resolveJob']>['dispute']>

const PAYMENT_REQUIRED = 402

/** When a dispute holds money; for the help of its commands. */
export const disputeHelp =
  "A dispute holds money that is still in escrow until it is decided. A person's delivery stays in escrow until the buyer accepts it, at most 48 hours. The result of a program is accepted at once, and a dispute about it is only recorded."

export const recordOnly = z
  .boolean()
  .default(false)
  .meta({ description: 'dispute even if no money is held: it is only recorded' })

type Asking = { readonly io: Io; readonly recordOnly: boolean }

/**
 * The `must_hold` of a dispute: true unless the user accepts that it is only recorded.
 * @param call - the dispute, first sent unpaid for its notice
 * @throws CliError usage without a terminal
 */
export async function mustHold(session: Session, call: RawCall, asking: Asking): Promise<boolean> {
  if (asking.recordOnly) return false
  const { status, body } = await session.send({ ...call, accept: [PAYMENT_REQUIRED] })
  if (status !== PAYMENT_REQUIRED || !isObject(body) || typeof body.notice !== 'string') return true
  await agree(body.notice, asking)
  return false
}

/** Sends a dispute; repeats it without `must_hold` on request. */
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

/** Default rulings as text. */
export const endings: Readonly<Record<Ruling, string>> = {
  release: 'the provider is paid',
  refund: 'the buyer is refunded',
  split: 'the payment is split in half',
}

/** The next automatic event of a dispute, or its result. */
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
  if (!io.canAsk) throw usage(notice, { facts: ['nothing was charged'], next: ['… --record-only'] })
  io.warn(notice)
  await io.confirm('Open the dispute anyway, for the record?')
}
