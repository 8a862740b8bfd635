import type { WireAnswer } from '../../../api/index.ts'
import type { Proof } from '../../../client/spending/proofs.ts'
import { AppError } from '../../../core/error.ts'
import { isObject } from '../../../core/json.ts'
import { compact } from '../../../core/record.ts'
import { disputeCategories, endings } from '../../../model/job.ts'
import { usage } from '../../exit.ts'
import type { Io } from '../../io.ts'
import * as z from '../../params.ts'
import type { RawCall, Session, SessionHost } from '../../session.ts'

type Dispute = NonNullable<WireAnswer<'resolveJob'>['dispute']>

const PAYMENT_REQUIRED = 402

/** Text for the help: in which cases a dispute holds money. */
export const disputeHelp =
  "If the payment is still in escrow, a dispute holds it until the decision. The payment for a person's work stays in escrow until the buyer accepts the delivery, at most 48 hours. The result of a program is accepted on delivery, so a dispute about it is only recorded. What the marketplace signed for the purchase, offer and receipt, is sent along."

export const disputeOptions = {
  reason: z.string().meta({ description: 'description of the problem', value: 'text' }),
  category: z.enum(disputeCategories).default('quality').meta({ description: 'kind of problem' }),
  evidence: z.list({ description: 'id of a file in the conversation', value: 'file_…' }),
  recordOnly: z
    .boolean()
    .default(false)
    .meta({ description: 'open the dispute even if it can hold no money and is only recorded' }),
}
type Disputing = {
  readonly reason: string
  readonly category: (typeof disputeCategories)[number]
  readonly evidence: string[]
}

/** The body of a dispute. @param bought - id of the job or conversation */
export async function complaintOf(
  host: Pick<SessionHost, 'places' | 'io'> & { readonly options: Disputing },
  session: Session,
  bought: string,
) {
  const { reason, category, evidence } = host.options
  const named = evidence.length === 0 ? undefined : evidence
  return { reason, category, ...compact({ evidence: named, proof: await proofFor(host, session, bought) }) }
}

/** What the marketplace signed for a purchase; undefined if it signs with another key by now. */
async function proofFor({ places, io }: Pick<SessionHost, 'places' | 'io'>, session: Session, bought: string) {
  const { readProof } = await import('../../../client/spending/ledger.ts')
  const text = readProof(places, bought)
  if (text === undefined) return undefined
  const { signer, offer, receipt } = JSON.parse(text) as Proof // written by this program
  if (receipt === null) return undefined
  if (signer === (await session.call('getManifest', {})).signer) return { offer, receipt }
  io.warn(`! the receipt is not attached: it is signed by ${signer}, an earlier key of this marketplace`)
  return undefined
}

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
