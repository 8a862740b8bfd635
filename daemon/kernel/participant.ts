import { AppError } from '../../src/core/error.ts'
import { isAddress, toWallet, type Wallet } from '../../src/core/hex.ts'
import type { ReadTx } from '../store/port.ts'
import { type ParticipantRow, participants } from './rows.ts'

/** Whether the participant is suspended; the house cannot be. */
export function isSuspended(participant: ParticipantRow | undefined): boolean {
  return participant !== undefined && participant.suspended_at !== null && !participant.first_party
}

/** @throws AppError 403 when the participant is suspended. */
export function refuseSuspended(participant: Pick<ParticipantRow, 'suspended_at'> | null | undefined): void {
  if (!participant || participant.suspended_at === null) return
  throw new AppError('forbidden', 'This participant is suspended: it may only read.')
}

/** Checks within the transaction, because a suspension may have come after the request. @throws AppError 403 */
export async function refuseSuspendedNow(t: ReadTx, participantId: string): Promise<void> {
  refuseSuspended(await t.table(participants).get(participantId))
}

/** @throws AppError 409 when the provider is suspended. */
export async function refuseSuspendedProvider(t: ReadTx, providerId: string): Promise<void> {
  const provider = await t.table(participants).get(providerId)
  if (!provider || provider.suspended_at === null) return
  throw new AppError('conflict', 'The provider is suspended: its services cannot be bought now.')
}

type Provided = { readonly id: string; readonly provider_id: string }

/** Provider of an existing row. */
export async function providerOf(t: ReadTx, row: Provided): Promise<ParticipantRow> {
  const provider = await t.table(participants).get(row.provider_id)
  if (!provider) throw new Error(`${row.id} has no provider`)
  return provider
}

/** The status shown to other users. For them, `suspended` becomes `inactive`. */
export function shownStatus<S extends string>(status: S): Exclude<S, 'suspended'> | 'inactive' {
  return status === 'suspended' ? 'inactive' : (status as Exclude<S, 'suspended'>) // compared just now
}

export async function participantOfWallet(t: ReadTx, wallet: Wallet): Promise<ParticipantRow | undefined> {
  return (await t.table(participants).page('wallet', [wallet], { limit: 1 })).rows[0]
}

export async function participantNamed(t: ReadTx, idOrWallet: string): Promise<ParticipantRow | undefined> {
  return isAddress(idOrWallet) ? participantOfWallet(t, toWallet(idOrWallet)) : t.table(participants).get(idOrWallet)
}
