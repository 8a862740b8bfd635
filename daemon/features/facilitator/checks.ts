import { paymentWindows } from '../../../src/core/authorization.ts'
import { AppError } from '../../../src/core/error.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import { unixSeconds } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { verifyAuthorization } from '../payments/verify.ts'
import { refuseSanctioned } from '../sanctions/screening.ts'
import type { Asked } from './ask.ts'
import { policyFault, type Seller } from './policy.ts'

/** Why an authorization that nobody has settled here is no good; undefined where it can be settled. */
export async function faultOf(ctx: Context, asked: Asked, seller: Seller): Promise<PaymentFault | undefined> {
  const { credential, requirement } = asked
  const { from, value } = credential.authorization
  const refused = policyFault(ctx, { seller, payTo: requirement.payTo, value })
  if (refused) return refused
  if ((await isBlocked(ctx, asked)) === true) return 'wallet_blocked'
  const fault = offlineFault(ctx, asked)
  if (fault) return fault
  const { chain } = ctx
  const [state, funds] = await Promise.all([
    chain.authorizationState(from, credential.authorization.nonce),
    chain.balanceOf(from),
  ]).catch((error: unknown) => {
    ctx.log.warn({ source: 'facilitator', err: String(error) }, 'the chain did not answer')
    return [undefined, undefined] as const
  })
  if (state === undefined) return 'chain_unavailable'
  if (state.used) return 'nonce_used'
  return funds < value ? 'insufficient_funds' : undefined
}

/** What can be told without the chain: price, payee, window, signature. */
export function offlineFault(ctx: Context, { credential, requirement }: Asked): PaymentFault | undefined {
  const { authorization, signature } = credential
  const verdict = verifyAuthorization({
    credential,
    requirement,
    facts: {
      wallNowSeconds: unixSeconds(ctx.clock.wall()),
      marginSeconds: paymentWindows.first.marginSeconds,
      signer: ctx.recover(ctx.chain.digestOf(authorization), signature) ?? null,
      // What it holds is asked of the chain; what else it has promised is between its wallet and others.
      funds: authorization.value,
      openReservations: 0n,
    },
  })
  return verdict.ok ? undefined : verdict.fault
}

/** Whether payer or payee may neither pay nor be paid. @throws AppError unavailable where nobody can be screened. */
async function isBlocked(ctx: Context, { credential, requirement }: Asked): Promise<boolean> {
  try {
    await refuseSanctioned(ctx, credential.authorization.from)
    await refuseSanctioned(ctx, requirement.payTo)
    return false
  } catch (error) {
    if (error instanceof AppError && error.code === 'sanctioned') return true
    throw error
  }
}
