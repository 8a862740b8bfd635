import { z } from 'zod'
import { Address, idOf, namedObject } from '../../core/codecs.ts'
import { MAX_NAME_CHARS } from '../../core/limits.ts'
import { endpointsWith, json, jsonBody, open, openOrKey } from '../endpoint/define.ts'
import { LinkedIdentity, Participant } from './participants.ts'
import { Trust } from './services.ts'

const endpoint = endpointsWith({ section: 'Registration and participants' })

const PublicProfile = Participant.extend({
  trust: Trust,
  reputation: z.strictObject({
    band: z.int().nullable().meta({ description: '100, 50 or 0; null while the verdict is unknown or withheld' }),
    confidence: z.number(),
    is_new: z.boolean(),
  }),
  webhook_health: z
    .strictObject({
      healthy: z
        .boolean()
        .nullable()
        .meta({ description: 'whether all listings are healthy; null without an active listing' }),
      listings: z.int().meta({ description: 'active ones' }),
      healthy_listings: z.int(),
    })
    .optional()
    .meta({ description: 'providers only' }),
  identity: LinkedIdentity.nullable().meta({ description: 'null: no identity is linked' }),
  identity_url: z.string().meta({ description: 'URL of the portable registration file' }),
}).meta({ id: 'PublicProfile' })

/** `type` of a registration file. */
export const REGISTRATION_TYPE = 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1'

/** ERC-8004 registration file; member names are the standard's. */
const RegistrationFile = namedObject('RegistrationFile', {
  type: z.literal(REGISTRATION_TYPE),
  name: z.string(),
  description: z.string(),
  image: z.string(),
  services: z.array(z.strictObject({ name: z.string(), endpoint: z.string() })),
  x402Support: z.boolean(),
  active: z.boolean(),
  registrations: z.array(z.strictObject({ agentId: z.int(), agentRegistry: z.string() })),
  supportedTrust: z.array(z.string()),
})

const REGISTRY_SHAPE = /^eip155:[1-9]\d{0,17}:0x[0-9a-fA-F]{40}$/
const AGENT_ID_SHAPE = /^(0|[1-9]\d{0,15})$/
const MAX_SIGNATURE_CHARS = 200

/** Ids start at 0. Those above the largest safe integer are invalid in registration files. */
const AgentId = z
  .union([
    z.int().min(0),
    z
      .string()
      .regex(AGENT_ID_SHAPE, 'must be a decimal number')
      .refine((text) => Number.isSafeInteger(Number(text)), 'is too large'),
  ])
  .meta({ description: 'agent id; the first one is 0' })

export const profilesApi = {
  getProfile: endpoint({
    path: '/v1/participants/:id/profile',
    access: open,
    reply: json(PublicProfile),
    summary:
      'consolidated public profile: `trust`, `reputation` (band), verification tier, `webhook_health` (providers), on-chain identity and links; 404 unless publicly listable',
  }),

  getIdentityFile: endpoint({
    path: '/v1/participants/:id/identity.json',
    access: open,
    reply: json(RegistrationFile),
    summary: 'portable ERC-8004 registration file',
  }),
}

export const identityLinkApi = {
  linkIdentity: endpoint({
    path: '/v1/identity/link',
    access: openOrKey,
    body: jsonBody({
      agent_id: AgentId,
      agent_registry: z.string().regex(REGISTRY_SHAPE, 'must be eip155:<chain id>:<registry address>'),
      wallet: Address.optional().meta({ description: 'wallet of the caller; needed with a signature' }),
      signature: z.string().max(MAX_SIGNATURE_CHARS).optional().meta({
        description:
          'instead of a key: EIP-191 signature over the lines `souk identity link v1`, `origin: <URL of this marketplace>`, `agent_registry: <as sent>`, `agent_id: <decimal>`, `timestamp: <as sent>`',
      }),
      timestamp: z
        .union([z.int().min(0), z.string().max(MAX_NAME_CHARS)])
        .optional()
        .meta({ description: 'unix seconds, within 300 of now; needed with a signature' }),
    }),
    reply: json(
      LinkedIdentity.extend({
        participant_id: idOf('participant'),
        id: idOf('participant'),
        wallet: Address,
        identity_url: z.string(),
      }),
    ),
    errors: ['forbidden', 'registration_required', 'not_found', 'unavailable'],
    summary: "link a self-registered ERC-8004 identity; the identity's owner must equal the caller's wallet",
  }),
}
