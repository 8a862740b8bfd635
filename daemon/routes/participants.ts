import type { z } from 'zod'
import type { api } from '../../src/api/index.ts'
import type { Participant } from '../../src/api/participants.ts'
import { AppError, invalidField, notFound } from '../../src/core/error.ts'
import { isAddress, type Wallet } from '../../src/core/hex.ts'
import type { ParticipantRow } from '../../src/model/participant.ts'
import type { Deed, FreeHandler, PaidHandler } from '../handler.ts'
import { hashSecret } from '../hash-secret.ts'
import { postings } from '../rules/books.ts'
import { participants } from '../store/collections.ts'
import type { Draw } from '../store/draw.ts'
import { emit } from '../store/event-log.ts'
import type { Draft, ReadTx, Tx } from '../store/port.ts'

const API_KEY_BYTES = 20
const WEBHOOK_SECRET_BYTES = 32
const REFERRAL_PREFIX = 'ref_'

export const register: PaidHandler<typeof api.register> = {
  async check({ body }, { world, payer }) {
    if (payer.participant) throw walletTaken(payer.participant)
    await world.store.read((t) => referrer(t, body.referral_code))
  },

  async effect(t, draw, deed) {
    const secrets = newSecrets(draw)
    const row = await t.table(participants).insert(await newParticipant(t, { draw, deed, secrets }))
    await emit(t, draw, {
      type: 'participant.registered',
      participantId: row.id,
      subject: { kind: 'participant', id: row.id },
      data: { name: row.name, type: row.type },
      at: deed.now,
    })
    return {
      kind: 'fixed_price_call',
      ref: { kind: 'participant', id: row.id },
      legs: postings.fixedPriceCall({ source: deed.source, price: deed.payment.price }),
      answer: {
        participant_id: row.id,
        id: row.id,
        api_key: secrets.apiKey,
        webhook_secret: secrets.webhook,
        type: row.type,
        wallet: row.wallet,
      },
    }
  },
}

type Secrets = { readonly apiKey: string; readonly webhook: string }

function newSecrets(draw: Draw): Secrets {
  return {
    apiKey: `sk_${draw.bytes(API_KEY_BYTES).toString('hex')}`,
    webhook: `whsec_${draw.bytes(WEBHOOK_SECRET_BYTES).toString('base64')}`,
  }
}

type NewParticipant = { draw: Draw; deed: Deed<typeof api.register>; secrets: Secrets }

async function newParticipant(t: Tx, { draw, deed, secrets }: NewParticipant): Promise<Draft<ParticipantRow>> {
  const { body } = deed.input
  const taken = await byWallet(t, deed.payer.wallet)
  if (taken) throw walletTaken(taken)
  return {
    id: draw.id('participant'),
    wallet: deed.payer.wallet,
    name: body.name,
    description: body.description ?? '',
    type: body.type,
    webhook_url: body.webhook_url ?? null,
    capabilities: body.capabilities ?? [],
    links: {},
    listable: null,
    verification_tier: 'unverified',
    referred_by: await referrer(t, body.referral_code),
    terms_version: body.accept_terms ?? null,
    first_party: false,
    key_hash: hashSecret(secrets.apiKey),
    webhook_secret: secrets.webhook,
    created_at: deed.now,
    updated_at: deed.now,
  }
}

async function byWallet(t: ReadTx, wallet: Wallet): Promise<ParticipantRow | undefined> {
  return (await t.table(participants).page('wallet', [wallet], { limit: 1 })).rows[0]
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

/** Participant behind a referral code `ref_<participant id>`. @throws AppError 400 on an unknown one. */
async function referrer(t: ReadTx, code: string | undefined): Promise<string | null> {
  if (code === undefined) return null
  const id = code.startsWith(REFERRAL_PREFIX) ? code.slice(REFERRAL_PREFIX.length) : ''
  if (!(await t.table(participants).get(id))) throw invalidField('referral_code', 'is not a code of this marketplace')
  return id
}

export const getParticipant: FreeHandler<typeof api.getParticipant> = async ({ params }, { world }) => {
  const row = await world.store.read(async (t) =>
    isAddress(params.id) ? byWallet(t, params.id.toLowerCase() as Wallet) : t.table(participants).get(params.id),
  )
  if (!row) throw notFound('The participant')
  return participantView(row)
}

function participantView(row: ParticipantRow): z.output<typeof Participant> {
  return {
    id: row.id,
    participant_id: row.id,
    wallet: row.wallet,
    name: row.name,
    description: row.description,
    type: row.type,
    verification_tier: row.verification_tier,
    capabilities: row.capabilities,
    links: row.links,
    first_party: row.first_party,
    created_at: row.created_at,
  }
}
