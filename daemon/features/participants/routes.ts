import type { z } from 'zod'
import type {
  participantsApi,
  Registered,
  registerFields,
  registrationApi,
} from '../../../src/api/sections/participants.ts'
import { AppError, existing, invalidField } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { compact } from '../../../src/core/record.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { EventType } from '../../../src/model/event-types.ts'
import { schemas } from '../../engines/schemas.ts'
import { emit } from '../../events/event-log.ts'
import { hashSecret } from '../../kernel/identity.ts'
import { notYours } from '../../kernel/parties.ts'
import { type ParticipantRow, participantNamed, participantOfWallet, participants } from '../../kernel/rows.ts'
import { SEAL_IV_BYTES } from '../../kernel/sealed.ts'
import { refuseUnsendable } from '../../kernel/web.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { ownListingView } from '../catalog/listing-routes.ts'
import { readListing } from '../listings/input.ts'
import { addListing, isListed } from '../listings/write.ts'
import { fixedFee, type Handlers } from '../payments/seller.ts'
import { forgetHealthOfAll } from '../webhooks/health.ts'
import { sealedHeader } from '../webhooks/own-header.ts'
import { ownParticipantView, participantView } from './profile-routes.ts'
import { refuseOtherVersion, refuseUnaccepted } from './terms.ts'

/** Webhooks are signed with both the old and the new secret for this long after a rotation (decisions §6). */
export const OLD_SECRET_LIFE_MS = DAY_MS

export const participantRoutes: Handlers<typeof registrationApi & typeof participantsApi> = {
  register: {
    async check({ body }, { ctx, payer }) {
      refuseUnsendable(ctx, body.webhook_url)
      await ctx.store.read((t) => checkRegistration(t, body, payer.participant))
    },

    async fulfil(t, draw, { input, payer, payment, source, now }) {
      const { row, secrets } = await insertParticipant(t, draw, { registration: input.body, wallet: payer.wallet, now })
      return fixedFee({ payment, source }, { kind: 'participant', id: row.id }, registeredAnswer(row, secrets))
    },
  },

  /** The signature proves control of the wallet. The old key stops working in the same transaction. */
  rotateKey: {
    async check(_input, { payer }) {
      if (!payer.participant) throw notRegistered()
    },

    async fulfil(t, draw, { payer, payment, source, now }) {
      const row = payer.participant && (await t.table(participants).getForUpdate(payer.participant.id))
      if (!row) throw notRegistered()
      const apiKey = newApiKey(draw)
      await t.table(participants).put({ ...row, key_hash: hashSecret(apiKey), updated_at: now })
      await announce(t, draw, { row, type: 'participant.key_rotated', at: now })
      return fixedFee(
        { payment, source },
        { kind: 'participant', id: row.id },
        { participant_id: row.id, id: row.id, api_key: apiKey, wallet: row.wallet, rotated_at: now },
      )
    },
  },

  /** Registers a provider and lists its services in one transaction. */
  onboardProvider: {
    async check({ body }, { ctx, payer }) {
      await ctx.store.read((t) => checkRegistration(t, body, payer.participant))
      refuseUnaccepted(ctx, body.accept_terms)
      listingsOf(body)
      refuseUnsendable(ctx, body.webhook_url)
      for (const [i, service] of body.services.entries()) {
        refuseUnsendable(ctx, service.webhook_url, `services.${i}.`)
        await schemas.of(ctx).refuseBroken({ ...service, at: `services.${i}.` }, { who: payer.wallet })
      }
    },

    async fulfil(t, draw, { input, payer, payment, source, now, baseUrl }) {
      const { services, ...given } = input.body
      const registration: RegistrationInput = { ...given, type: given.type ?? 'provider' }
      const { row, secrets } = await insertParticipant(t, draw, { registration, wallet: payer.wallet, now })
      const listed = []
      for (const fields of listingsOf({ services })) {
        const service = await addListing(t, draw, { provider: row, fields, now })
        listed.push(await ownListingView(t, { service, provider: row, now, baseUrl }))
      }
      return fixedFee(
        { payment, source },
        { kind: 'participant', id: row.id },
        { ...registeredAnswer(row, secrets), services: listed },
      )
    },
  },

  getDirectory: async ({ query }, { ctx }) => {
    const { type, limit = DEFAULT_PAGE, cursor } = query
    const slice = { limit, ...compact({ after: cursor }) }
    const table = ctx.store.table(participants)
    const page = type ? await table.page('directory_type', [type], slice) : await table.page('directory', [], slice)
    return { participants: page.rows.map(participantView), limit, next_cursor: page.more ? page.cursor : null }
  },

  getParticipant: async ({ params }, { ctx, caller }) => {
    const row = existing(await ctx.store.read((t) => participantNamed(t, params.id)), 'The participant')
    return row.id === caller?.id ? ownParticipantView(row, false) : participantView(row)
  },

  updateParticipant: async ({ params, body }, { ctx, caller, now, wall }) => {
    refuseOtherVersion('accept_terms', body.accept_terms)
    refuseUnsendable(ctx, body.webhook_url)
    const row = await commit(ctx, async (t, draw) => {
      const named = existing(await participantNamed(t, params.id), 'The participant')
      if (named.id !== caller.id) throw notYours('The profile')
      const locked = existing(await t.table(participants).getForUpdate(named.id), 'The participant')
      const rotated = body.rotate_webhook_secret ? rotatedSecret(locked, newWebhookSecret(draw), wall) : locked
      const header = sealedHeader(ctx, { owner: locked, given: body.endpoint_header, iv: draw.bytes(SEAL_IV_BYTES) })
      const { endpoint_header: _, ...others } = { ...rotated, ...givenFields(body, now), updated_at: now }
      const changed = { ...others, ...header }
      const written = await t.table(participants).put({ ...changed, in_directory: await isListed(t, changed) })
      if (written.webhook_url !== locked.webhook_url) await forgetHealthOfAll(t, written.id, now)
      await announce(t, draw, { row: written, type: 'participant.updated', at: now })
      return written
    })
    return ownParticipantView(row, body.rotate_webhook_secret === true)
  },
}

type OnboardBody = z.output<(typeof registrationApi.onboardProvider)['body']['schema']>

/** @throws AppError 400 that names the faulty service, as in `services.0.price` */
function listingsOf({ services }: Pick<OnboardBody, 'services'>) {
  return services.map((service, i) => readListing(service, `services.${i}.`))
}

function notRegistered(): AppError {
  return new AppError('registration_required', 'This wallet is not registered: POST /v1/register first.')
}

type ProfileBody = z.output<(typeof participantsApi.updateParticipant)['body']['schema']>

function givenFields(body: ProfileBody, now: number): Partial<ParticipantRow> {
  const { name, description, webhook_url, capabilities, links, listable, tax } = body
  return {
    ...compact({ name, description, webhook_url, capabilities, links, listable, tax }),
    ...(body.accept_terms === undefined ? {} : { terms_version: body.accept_terms, terms_accepted_at: now }),
  }
}

/** The old secret expires by wall time, because signatures use wall time. */
function rotatedSecret(row: ParticipantRow, secret: string, wall: number): ParticipantRow {
  const previous = { secret: row.webhook_secret, until: wall + OLD_SECRET_LIFE_MS }
  return { ...row, webhook_secret: secret, previous_webhook_secret: previous }
}

type Announcement = { readonly row: ParticipantRow; readonly type: EventType; readonly at: number }

async function announce(t: Tx, draw: Draw, { row, type, at }: Announcement): Promise<void> {
  await emit(t, draw, { type, participantId: row.id, subject: { kind: 'participant', id: row.id }, data: {}, at })
}

const API_KEY_BYTES = 20
const WEBHOOK_SECRET_BYTES = 32
const REFERRAL_PREFIX = 'ref_'

type RegistrationInput = z.output<z.ZodObject<typeof registerFields>>
type Secrets = { readonly apiKey: string; readonly webhook: string }

function newApiKey(draw: Draw): string {
  return `sk_${draw.bytes(API_KEY_BYTES).toString('hex')}`
}

function newWebhookSecret(draw: Draw): string {
  return `whsec_${draw.bytes(WEBHOOK_SECRET_BYTES).toString('base64')}`
}

/** Refuses a registration before it is charged. */
async function checkRegistration(
  t: ReadTx,
  registration: Pick<RegistrationInput, 'referral_code' | 'accept_terms'>,
  existing: ParticipantRow | null,
): Promise<void> {
  if (existing) throw walletTaken(existing)
  refuseOtherVersion('accept_terms', registration.accept_terms)
  await referrer(t, registration.referral_code)
}

/** Writes a participant with new secrets. @throws AppError `conflict` when the wallet is already registered. */
export async function insertParticipant(
  t: Tx,
  draw: Draw,
  { registration, wallet, now }: { registration: RegistrationInput; wallet: Wallet; now: number },
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

function registeredAnswer(row: ParticipantRow, secrets: Secrets): z.output<typeof Registered> {
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
    { extra: { participant_id: participant.id } },
  )
}

/** Participant of a referral code `ref_<participant id>`. @throws AppError 400 for an unknown code */
async function referrer(t: ReadTx, code: string | undefined): Promise<string | null> {
  if (code === undefined) return null
  const id = code.startsWith(REFERRAL_PREFIX) ? code.slice(REFERRAL_PREFIX.length) : ''
  if (!(await t.table(participants).get(id))) throw invalidField('referral_code', 'unknown code')
  return id
}
