import { z } from 'zod'
import { StoredWallet, TaxDetails } from '../../src/core/codecs.ts'
import { AppError } from '../../src/core/error.ts'
import { isAddress, toWallet, type Wallet } from '../../src/core/hex.ts'
import { participantTypes, partyRoles, tiers } from '../../src/model/words.ts'
import { type AnyCollection, type Collection, defineCollection, type ReadTx, stored, type Tx } from '../store/port.ts'

/** A named counter of the installation. */
export const CounterRow = z.strictObject({ ...stored, value: z.int() })

export const SettingRow = z.strictObject({ ...stored, value: z.json() })

/**
 * Lets participants list their own jobs, threads and subscriptions: one row per side. Keyed by wallet, so that a buyer
 * who registers later sees earlier records (decisions §3).
 */
export const PartyRow = z.strictObject({
  /** `<subject id>:<role>`. */
  ...stored,
  wallet: z.string(),
  role: z.enum(partyRoles),
  /** Id of the job, thread or subscription. */
  subject_id: z.string(),
  /** Copy of the subject's status, for filters. */
  status: z.string(),
  /** Sort position, epoch milliseconds. */
  at: z.int(),
})
export type PartyRow = z.infer<typeof PartyRow>

/** A stored agent or provider. Times are epoch milliseconds of business time. */
export const participants = defineCollection('participants', {
  schema: z.strictObject({
    ...stored,
    wallet: StoredWallet,
    name: z.string(),
    description: z.string(),
    type: z.enum(participantTypes),
    webhook_url: z.string().nullable(),
    capabilities: z.array(z.string()),
    links: z.record(z.string(), z.string()),
    /** Whether the participant chose to be listed; null if it did not choose. Then an active listing decides. */
    listable: z.boolean().nullable(),
    /** Effective value of `listable`, for the directory's index. */
    in_directory: z.boolean(),
    verification_tier: z.enum(tiers),
    referred_by: z.string().nullable(),
    /** When the participant was suspended, or null. Its key can then only read, and its wallet cannot pay. */
    suspended_at: z.int().nullable(),
    terms_version: z.string().nullable(),
    terms_accepted_at: z.int().nullable(),
    first_party: z.boolean(),
    /** SHA-256 of the API key, hex. */
    key_hash: z.string(),
    webhook_secret: z.string(),
    /** A custom header sent to the participant's endpoints. Its value is sealed. */
    endpoint_header: z.strictObject({ name: z.string(), box: z.string() }).exactOptional(),
    /** Details for receipts and statements; shown nowhere else. */
    tax: TaxDetails.nullable().exactOptional(),
    /** The previous webhook secret. It signs deliveries together with the present secret until the wall time `until`. */
    previous_webhook_secret: z.strictObject({ secret: z.string(), until: z.int() }).nullable(),
    created_at: z.int(),
    updated_at: z.int(),
  }),
  indexes: [
    { name: 'wallet', fields: ['wallet'], unique: true },
    { name: 'key', fields: ['key_hash'], unique: true },
    { name: 'newest', fields: ['created_at'], order: 'desc' },
    { name: 'referrer', fields: ['referred_by', 'created_at'], order: 'desc' },
    { name: 'type', fields: ['type', 'created_at'], order: 'desc' },
    { name: 'tier', fields: ['verification_tier', 'created_at'], order: 'desc' },
    { name: 'type_tier', fields: ['type', 'verification_tier', 'created_at'], order: 'desc' },
    { name: 'directory', fields: ['created_at'], order: 'desc', where: { field: 'in_directory', equals: true } },
    {
      name: 'directory_type',
      fields: ['type', 'created_at'],
      order: 'desc',
      where: { field: 'in_directory', equals: true },
    },
  ],
})
export type ParticipantRow = z.infer<typeof participants.schema>

export const counters = defineCollection('counters', { schema: CounterRow, indexes: [] })

/** Increments a counter in the transaction. @returns the new value */
export async function nextNumber(t: Tx, id: string): Promise<number> {
  const value = ((await t.table(counters).getForUpdate(id))?.value ?? 0) + 1
  await t.table(counters).put({ id, value })
  return value
}

export const settings = defineCollection('settings', { schema: SettingRow, indexes: [] })

/** Locks a setting and writes it. */
export async function putSetting(t: Tx, id: string, value: z.infer<typeof SettingRow>['value']): Promise<void> {
  await t.table(settings).getForUpdate(id)
  await t.table(settings).put({ id, value })
}

/** Counts of one hour of business time: group → name → count. The key is the hour since the epoch as text. */
export const tallies = defineCollection('tallies', {
  schema: z.strictObject({ ...stored, counts: z.record(z.string(), z.record(z.string(), z.int().positive())) }),
  indexes: [],
})
export type TallyRow = z.infer<typeof tallies.schema>

/** A collection of party rows. `parties.ts` writes them together with their subjects. */
export function partiesOf(name: string): Collection<PartyRow> {
  return defineCollection(name, {
    schema: PartyRow,
    indexes: [
      { name: 'wallet', fields: ['wallet', 'at'], order: 'desc' },
      { name: 'wallet_role', fields: ['wallet', 'role', 'at'], order: 'desc' },
      { name: 'wallet_status', fields: ['wallet', 'status', 'at'], order: 'desc' },
      { name: 'wallet_role_status', fields: ['wallet', 'role', 'status', 'at'], order: 'desc' },
    ],
  })
}

export const kernelCollections: readonly AnyCollection[] = [participants, counters, settings, tallies]

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
