import type { PaidEndpoint } from '../../../src/api/endpoint/define.ts'
import { AppError } from '../../../src/core/error.ts'
import { readApiKey } from '../../endpoint/api-key.ts'
import { keyed, participantOfKey } from '../../endpoint/caller.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import { type Credential, isTendered, type Tendered } from './credential.ts'
import type { PaidRequest, Payer } from './seller.ts'

/**
 * Who signed, or whose key it is.
 * @returns undefined while nobody is proven, or the key is not known: the step whose turn it is refuses it.
 */
export async function identifyPayer(request: PaidRequest, credential: Credential): Promise<Payer | undefined> {
  if (!isTendered(credential)) return undefined
  if (credential.kind === 'x402' && credential.signer !== credential.payment.authorization.from) return undefined
  try {
    return await payerOf(request, credential)
  } catch (error) {
    if (error instanceof AppError && (error.status === 401 || error.status === 403)) return undefined
    throw error
  }
}

const credentialNames = { balance: 'balance credential', key: 'API key' } as const

/** Whom a credential names, proven or not. @throws AppError 401, and 403 where a key is another wallet's. */
export async function payerOf(request: PaidRequest, credential: Tendered): Promise<Payer> {
  const { ctx } = request
  if (credential.kind !== 'x402') {
    const participant = await participantOfKey(ctx, credential.key)
    if (!participant) throw new AppError('unauthorized', `The ${credentialNames[credential.kind]} is not known here.`)
    return { wallet: participant.wallet, participant }
  }
  const wallet = credential.payment.authorization.from
  const holder = await keyHolder(request)
  if (holder && holder.wallet !== wallet) {
    throw new AppError('forbidden', 'The API key belongs to another wallet than the payment; nothing was charged.')
  }
  const page = await ctx.store.table(participants).page('wallet', [wallet], { limit: 1 })
  return { wallet, participant: page.rows[0] ?? null }
}

export function isX402Only({ access }: PaidEndpoint): boolean {
  return access.kind === 'paid' && access.x402Only === true
}

/** Where the signature is the whole proof, a key that is dead by now does not stand in the way of a retry. */
async function keyHolder({ ctx, seller, exchange }: PaidRequest): Promise<ParticipantRow | null> {
  if (!isX402Only(seller.endpoint)) return keyed(ctx, exchange)
  const sent = readApiKey(exchange)
  return (sent === undefined ? undefined : await participantOfKey(ctx, sent)) ?? null
}
