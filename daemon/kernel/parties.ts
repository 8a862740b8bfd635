import { AppError } from '../../src/core/error.ts'
import type { PartyRole } from '../../src/model/words.ts'
import { type OffsetPage, type OffsetSlice, offsetPage } from '../store/each-page.ts'
import type { Collection, ReadTx, Row, Scalar, Tx } from '../store/port.ts'
import { type ParticipantRow, type PartyRow, providerOf } from './rows.ts'

/**
 * A job, thread or subscription. A write of a subject also updates the rows of its two parties. A party's list by
 * status then needs only one index.
 */
export type Subject = {
  readonly id: string
  readonly buyer_wallet: string
  readonly provider_id: string
  readonly status: string
}

type Parties = Collection<PartyRow>
type PartyUpdate = { readonly subject: Subject; readonly at: number }

export async function insertParties(t: Tx, parties: Parties, { subject, at }: PartyUpdate): Promise<void> {
  const provider = await providerOf(t, subject)
  const sides = [
    ['buyer', subject.buyer_wallet],
    ['provider', provider.wallet],
  ] as const
  for (const [role, wallet] of sides) {
    const id = keyOf(subject, role)
    await t.table(parties).insert({ id, wallet, role, subject_id: subject.id, status: subject.status, at })
  }
}

export async function moveParties(t: Tx, parties: Parties, { subject, at }: PartyUpdate): Promise<void> {
  for (const role of ['buyer', 'provider'] as const) {
    const id = keyOf(subject, role)
    const party = await t.table(parties).getForUpdate(id)
    if (!party) throw new Error(`${id} is not a party`)
    if (party.status !== subject.status || party.at !== at) {
      await t.table(parties).put({ ...party, status: subject.status, at })
    }
  }
}

function keyOf(subject: Subject, role: PartyRole): string {
  return `${subject.id}:${role}`
}

export type OwnQuery = Pick<OffsetSlice, 'limit' | 'offset'> & {
  readonly wallet: string
  readonly role?: PartyRole | undefined
  readonly status?: string | undefined
}

/** A page of a wallet's jobs, threads or subscriptions, newest first. */
export async function ownRows<R extends Row>(
  t: ReadTx,
  { parties, rows }: { readonly parties: Parties; readonly rows: Collection<R> },
  query: OwnQuery,
): Promise<OffsetPage<R>> {
  const { ids, ...page } = await ownIds(t, parties, query)
  return { ...page, rows: await t.table(rows).getMany(ids) }
}

/** The ids of the rows that `ownRows` returns. */
export async function ownIds(
  t: ReadTx,
  parties: Parties,
  { wallet, role, status, limit, offset }: OwnQuery,
): Promise<Omit<OffsetPage<never>, 'rows'> & { readonly ids: readonly string[] }> {
  const index = ['wallet', role && 'role', status && 'status'].filter(Boolean).join('_')
  const prefix: Scalar[] = [wallet, role, status].filter((value) => value !== undefined)
  const { rows, ...page } = await offsetPage(t.table(parties), { index, prefix, limit, offset })
  return { ...page, ids: rows.map((row) => row.subject_id) }
}

/** The participant's side of a job or conversation; undefined for other participants. Buyers are matched by wallet. */
export function sideOf(
  subject: Pick<Subject, 'buyer_wallet' | 'provider_id'>,
  participant: Pick<ParticipantRow, 'wallet'> & { readonly id: string | null },
): PartyRole | undefined {
  if (participant.id === subject.provider_id) return 'provider'
  return participant.wallet === subject.buyer_wallet ? 'buyer' : undefined
}

export function notYours(what: string): AppError {
  return new AppError('forbidden', `${what} does not belong to you.`)
}
