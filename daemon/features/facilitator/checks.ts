import { AppError } from '../../../src/core/error.ts'
import { paymentWindows } from '../../../src/core/limits.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import type { SettleFailure } from '../../ports/chain/chain.ts'
import { verifyAuthorization } from '../payments/order.ts'
import { settleFaults } from '../payments/settle.ts'
import { refuseSanctioned } from '../sanctions/sanctions.ts'
import type { FacilitatorAsk } from './ask.ts'
import { policyFault, type ServedSeller } from './policy.ts'

/** Why an authorization that was not settled here before cannot be settled; undefined if it can. */
export async function faultOf(
  ctx: Context,
  asked: FacilitatorAsk,
  seller: ServedSeller,
): Promise<PaymentFault | undefined> {
  const { credential, requirement } = asked
  const { from: payer, value } = credential.authorization
  const refused = policyFault(ctx, { seller, payer, payTo: requirement.payTo, value })
  if (refused) return refused
  if ((await isBlocked(ctx, asked)) === true) return 'wallet_blocked'
  const fault = offlineFault(ctx, asked)
  if (fault && !(ofContracts.has(fault) && (await isOfContract(ctx, asked)))) return fault
  return chainFault(ctx, asked)
}

/** Faults that key recovery reports for a valid signature of a contract wallet. */
const ofContracts: ReadonlySet<PaymentFault> = new Set([
  'signature_invalid',
  'signature_length',
  'smart_wallet_unsupported',
])

async function isOfContract({ chain }: Context, { credential }: FacilitatorAsk): Promise<boolean> {
  const { authorization, signature } = credential
  return (await chain.isContractSignature?.(authorization, signature).catch(() => false)) === true // a chain that does not say proves nothing
}

/** Why a repeated authorization cannot be settled. Its signature was verified at the first request. */
export function repeatedFault(ctx: Context, asked: FacilitatorAsk): PaymentFault | undefined {
  const fault = offlineFault(ctx, asked)
  return fault && ofContracts.has(fault) ? undefined : fault
}

/** Lets the chain check nonce, funds and a simulated transfer. */
async function chainFault({ chain, log }: Context, { credential }: FacilitatorAsk): Promise<PaymentFault | undefined> {
  try {
    const verdict = await chain.verify(credential.authorization, credential.signature)
    if (verdict.ok) return undefined
    return isUnsaid(verdict.failure) ? 'chain_unavailable' : settleFaults[verdict.failure]
  } catch (error) {
    log.warn({ source: 'facilitator', err: String(error) }, 'the chain did not answer')
    return 'chain_unavailable'
  }
}

/** Whether a failure tells nothing about the payment, because the chain or the token is unavailable. */
function isUnsaid(failure: SettleFailure): boolean {
  return failure === 'unavailable' || failure === 'token_paused'
}

/** Checks price, payee, window and signature without the chain. */
function offlineFault(ctx: Context, { credential, requirement }: FacilitatorAsk): PaymentFault | undefined {
  const { authorization, signature } = credential
  const verdict = verifyAuthorization({
    credential,
    requirement,
    facts: {
      wallNowSeconds: unixSeconds(ctx.clock.wall()),
      marginSeconds: paymentWindows.first.marginSeconds,
      signer: ctx.recover(ctx.chain.digestOf(authorization), signature) ?? null,
      // Assumes enough funds. The chain checks them, and other payments that the wallet signed are unknown here.
      funds: authorization.value,
      openReservations: 0n,
    },
  })
  return verdict.ok ? undefined : verdict.fault
}

/** Whether payer or payee is blocked. @throws AppError `unavailable` when screening is not possible. */
async function isBlocked(ctx: Context, { credential, requirement }: FacilitatorAsk): Promise<boolean> {
  try {
    await refuseSanctioned(ctx, credential.authorization.from)
    await refuseSanctioned(ctx, requirement.payTo)
    return false
  } catch (error) {
    if (error instanceof AppError && error.code === 'sanctioned') return true
    throw error
  }
}
