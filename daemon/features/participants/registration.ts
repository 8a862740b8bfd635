import type { z } from 'zod'
import type { Registered, registerFields } from '../../../src/api/sections/participants.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { emit } from '../../events/event-log.ts'
import { hashSecret } from '../../kernel/identity.ts'
import { participantOfWallet } from '../../kernel/participant.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import type { Draw } from '../../store/draw.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { refuseOtherVersion } from './terms.ts'

const API_KEY_BYTES = 20
const WEBHOOK_SECRET_BYTES = 32
const REFERRAL_PREFIX = 'ref_'

export type RegistrationInput = z.output<z.ZodObject<typeof registerFields>>
export type Secrets = { readonly apiKey: string; readonly webhook: string }

export function newApiKey(draw: Draw): string {
  return `sk_${draw.bytes(API_KEY_BYTES).toString('hex')}`
}

export function newWebhookSecret(draw: Draw): string {
  return `whsec_${draw.bytes(WEBHOOK_SECRET_BYTES).toString('base64')}`
}

/** Refuses a registration before it is charged. */
export async function checkRegistration(
  t: ReadTx,
  registration: Pick<RegistrationInput, 'referral_code' | 'accept_terms'>,
  existing: ParticipantRow | null,
): Promise<void> {
  if (existing) throw walletTaken(existing)
  refuseOtherVersion('accept_terms', registration.accept_terms)
  await referrer(t, registration.referral_code)
}

type NewParticipant = { readonly registration: RegistrationInput; readonly wallet: Wallet; readonly now: number }

/** Writes a participant with new secrets. @throws AppError `conflict` when the wallet is already registered. */
export async function insertParticipant(
  t: Tx,
  draw: Draw,
  { registration, wallet, now }: NewParticipant,
): Promise<{ row: ParticipantRow; secrets: Secrets }> {
  const taken = await participantOfWallet(t, wallet)
  if (taken) throw walletTaken(taken)
  const secrets = { apiKey: newApiKey(draw), webhook: newWebhookSecret(draw) }
  const row = await t.table(participants).insert({
    id: draw.id('participant'),
    wallet,
    name: registration.name,
    description: registration.description ?? '',
    type: registration.type,
    webhook_url: registration.webhook_url ?? null,
    capabilities: registration.capabilities ?? [],
    links: {},
    listable: null,
    in_directory: false,
    verification_tier: 'unverified',
    referred_by: await referrer(t, registration.referral_code),
    terms_version: registration.accept_terms ?? null,
    terms_accepted_at: registration.accept_terms === undefined ? null : now,
    first_party: false,
    key_hash: hashSecret(secrets.apiKey),
    webhook_secret: secrets.webhook,
    previous_webhook_secret: null,
    suspended_at: null,
    created_at: now,
    updated_at: now,
  })
  await emit(t, draw, {
    type: 'participant.registered',
    participantId: row.id,
    subject: { kind: 'participant', id: row.id },
    data: { name: row.name, type: row.type },
    at: now,
  })
  return { row, secrets }
}

export function registeredAnswer(row: ParticipantRow, secrets: Secrets): z.output<typeof Registered> {
  return {
    participant_id: row.id,
    id: row.id,
    api_key: secrets.apiKey,
    webhook_secret: secrets.webhook,
    type: row.type,
    wallet: row.wallet,
  }
}

function walletTaken(participant: ParticipantRow): AppError {
  return new AppError(
    'conflict',
    'This wallet is registered already: POST /v1/participants/rotate-key gives a new key.',
    {
      extra: { participant_id: participant.id },
    },
  )
}

/** Participant of a referral code `ref_<participant id>`. @throws AppError 400 for an unknown code */
async function referrer(t: ReadTx, code: string | undefined): Promise<string | null> {
  if (code === undefined) return null
  const id = code.startsWith(REFERRAL_PREFIX) ? code.slice(REFERRAL_PREFIX.length) : ''
  if (!(await t.table(participants).get(id))) throw invalidField('referral_code', 'unknown code')
  return id
}
