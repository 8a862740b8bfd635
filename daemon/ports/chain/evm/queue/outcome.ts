import type { Hex } from '../../../../../src/core/hex.ts'
import type { SettleFailure } from '../../chain.ts'
import { revertText } from './calldata.ts'
import type { CallWork, Core, QueueWork, TransferWork } from './core.ts'
import type { OrderOutcome } from './queue.ts'

/** Delay before resending a transfer whose transaction was reorged. */
const UNDONE_RETRY_MS = 500
const MS = 1_000

const reasons: readonly (readonly [RegExp, SettleFailure])[] = [
  [/is used or canceled/, 'authorization_used'],
  [/is expired/, 'authorization_expired'],
  [/not yet valid/, 'authorization_not_yet_valid'],
  [/exceeds balance/, 'insufficient_funds'],
  [/^Blacklistable:/, 'payer_blocked'],
  [/^Pausable:/, 'token_paused'],
  [/invalid signature|^ECRecover:/, 'signature_invalid'],
]

export function failureOf(data: Hex): SettleFailure {
  const text = revertText(data)
  return reasons.find(([pattern]) => pattern.test(text))?.[1] ?? 'reverted'
}

/** Whether an order's bytes were ever sent, and its last transaction. */
export function sentFacts({ tx, tries, transaction }: QueueWork): { sent: boolean; transaction?: Hex } {
  const latest = tx?.row.sends.at(-1)?.hash ?? transaction
  return { sent: tx !== undefined || tries > 0 || latest !== undefined, ...(latest ? { transaction: latest } : {}) }
}

/** Ends a transfer as settled. `already`: an earlier transaction moved the money. */
export function settled(core: Core, work: TransferWork, moved: { transaction: Hex; already: boolean }): void {
  core.works.delete(work.key)
  work.done.resolve({ ok: true, ...moved })
}

/** Ends a transfer as refused. A transfer whose transaction was reorged is retried while it may still settle. */
export function refused(core: Core, work: TransferWork, failure: SettleFailure): void {
  if (work.undone !== undefined && !isLostForGood(core, work, failure)) {
    requeue(core, work, UNDONE_RETRY_MS)
    return
  }
  core.works.delete(work.key)
  work.done.resolve({ ok: false, failure, ...sentFacts(work) })
}

function isLostForGood({ options }: Core, { authorization }: TransferWork, failure: SettleFailure): boolean {
  if (failure === 'authorization_used' || failure === 'authorization_cancelled') return true
  return options.wall() > Number(authorization.validBefore) * MS + options.timings.reversalGraceMs
}

export function called(core: Core, work: CallWork, outcome: OrderOutcome): void {
  core.works.delete(work.key)
  work.done.resolve(outcome)
}

/** Puts work back at the front of the queue, to be sent after `delayMs` at the earliest. */
export function requeue(core: Core, work: QueueWork, delayMs = 0): void {
  work.notBefore = core.options.wall() + delayMs
  work.transaction = work.tx?.row.sends.at(-1)?.hash ?? work.transaction
  work.tx = undefined
  if (!core.waiting.includes(work)) core.waiting.unshift(work)
  core.pump.ring()
}
