import { z } from 'zod'
import { Address } from '../core/hex.ts'
import { idOf } from '../core/id.ts'
import { MAX_NAME_CHARS, MAX_TEXT_CHARS, MAX_URL_CHARS } from '../core/limits.ts'
import { usdc } from '../core/money.ts'
import { participantTypes, tiers } from '../model/participant.ts'
import { Time } from './common.ts'
import { defineEndpoint, json, jsonBody, open, paid } from './endpoint.ts'

const section = 'Registration and participants'
const MAX_CAPABILITIES = 50
export const REGISTER_PRICE = usdc(10_000n)

export const registerFields = {
  name: z.string().trim().min(1).max(MAX_NAME_CHARS),
  description: z.string().max(MAX_TEXT_CHARS).optional(),
  type: z.enum(participantTypes),
  webhook_url: z
    .url({ protocol: /^https?$/ })
    .max(MAX_URL_CHARS)
    .optional(),
  capabilities: z.array(z.string().min(1).max(MAX_NAME_CHARS)).max(MAX_CAPABILITIES).optional(),
  referral_code: z.string().max(MAX_NAME_CHARS).optional(),
  accept_terms: z.string().max(MAX_NAME_CHARS).optional().meta({ description: 'version of the terms' }),
}

export const Registered = z.strictObject({
  participant_id: idOf('participant'),
  id: idOf('participant'),
  api_key: z.string().nullable().meta({ description: 'shown once' }),
  webhook_secret: z.string().nullable().meta({ description: 'shown once' }),
  type: z.enum(participantTypes),
  wallet: Address,
  secret_withheld: z.boolean().optional(),
})

export const register = defineEndpoint({
  method: 'POST',
  path: '/v1/register',
  access: paid(REGISTER_PRICE, { x402Only: true }),
  section,
  body: jsonBody(z.strictObject(registerFields)),
  reply: json(Registered, { secrets: ['api_key', 'webhook_secret'] }),
  errors: ['invalid_request', 'conflict', 'sanctioned', 'paused'],
  summary: 'register as agent, provider, or both; a `referral_code` field may be given',
})

export const Participant = z
  .strictObject({
    id: idOf('participant'),
    participant_id: idOf('participant'),
    wallet: Address,
    name: z.string(),
    description: z.string(),
    type: z.enum(participantTypes),
    verification_tier: z.enum(tiers),
    capabilities: z.array(z.string()),
    links: z.record(z.string(), z.string()),
    first_party: z.boolean(),
    created_at: Time,
  })
  .meta({ id: 'Participant' })

export const getParticipant = defineEndpoint({
  method: 'GET',
  path: '/v1/participants/:id',
  access: open,
  section,
  reply: json(Participant),
  errors: ['not_found'],
  summary: 'participant profile including `verification_tier`',
})
