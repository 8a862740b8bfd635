import { z } from 'zod'
import { Address, Amount, idOf, namedObject, TaxDetails, Time } from '../../core/codecs.ts'
import { DEFAULT_PAGE, MAX_NAME_CHARS, MAX_PAGE, MAX_TEXT_CHARS, MAX_URL_CHARS } from '../../core/limits.ts'
import { usdc } from '../../core/money.ts'
import { participantTypes, tiers } from '../../model/words.ts'
import { PublicName, paged, pageQuery, queryInt, WebhookUrl } from '../endpoint/common.ts'
import { adminEndpoint, endpointsWith, json, jsonBody, open, openOrKey, paid } from '../endpoint/define.ts'
import { participantFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'
import { listingFields, OwnListing } from './services.ts'

const endpoint = endpointsWith({ section: 'Registration and participants' })
const MAX_CAPABILITIES = 50
const MAX_LINKS = 20
/** Listings per onboarding. */
const MAX_ONBOARD_SERVICES = 20
const MAX_CURSOR_CHARS = 500
export const REGISTER_PRICE = usdc(10_000n)
export const ONBOARD_PRICE = usdc(10_000n)
export const ROTATE_KEY_PRICE = usdc(1_000n)

const Capabilities = z.array(z.string().min(1).max(MAX_NAME_CHARS)).max(MAX_CAPABILITIES)
const TermsVersion = z.string().max(MAX_NAME_CHARS).meta({ description: 'version of the terms' })

export const registerFields = {
  name: PublicName,
  description: z.string().max(MAX_TEXT_CHARS).optional(),
  type: z.enum(participantTypes),
  webhook_url: WebhookUrl.optional(),
  capabilities: Capabilities.optional(),
  referral_code: z.string().max(MAX_NAME_CHARS).optional(),
  accept_terms: TermsVersion.optional(),
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

export const Participant = namedObject('Participant', {
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

/** Reserved and invalid header names. */
const OUR_HEADERS =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|accept.*|user-agent|cookie|webhook-.*|x-webhook-.*|x-request-id|x-payment.*|payment-.*)$/i
const MAX_HEADER_VALUE_CHARS = 1_000

/** A custom header that the marketplace sends to a provider's endpoints. */
const EndpointHeader = z.strictObject({
  name: z
    .string()
    .max(MAX_NAME_CHARS)
    .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header')
    .refine((name) => !OUR_HEADERS.test(name), 'reserved header: choose another one'),
  value: z
    .string()
    .min(1)
    .max(MAX_HEADER_VALUE_CHARS)
    .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII'),
})

const ownFields = {
  endpoint_header: z.string().nullable().meta({ description: 'name of the header sent to your endpoints' }),
  webhook_url: z.string().nullable(),
  listable: z.boolean().nullable().meta({ description: 'null: public while the participant has an active listing' }),
  in_directory: z.boolean(),
  terms_version: z.string().nullable(),
  updated_at: Time,
}
export const OwnParticipant = Participant.extend({
  ...ownFields,
  webhook_secret: z.string().optional().meta({ description: 'the new secret; only after a rotation' }),
  previous_secret_until: Time.optional().meta({ description: 'until then deliveries also carry the old signature' }),
}).meta({ id: 'OwnParticipant' })

/** A profile; its owner also sees private fields. */
const ShownParticipant = Participant.extend(z.strictObject(ownFields).partial().shape).meta({ id: 'ShownParticipant' })

/** A verified ERC-8004 identity. */
export const LinkedIdentity = namedObject('LinkedIdentity', {
  agent_registry: z.string().meta({ description: '`eip155:<chain id>:<registry address>`' }),
  agent_id: z.string().meta({ description: 'decimal; the first one is 0' }),
  linked_at: Time,
})

export const registrationApi = {
  register: endpoint({
    path: '/v1/register',
    access: paid(REGISTER_PRICE, { x402Only: true }),
    body: jsonBody(registerFields),
    reply: json(Registered, { secrets: ['api_key', 'webhook_secret'] }),
    summary: 'register as agent, provider, or both; a `referral_code` field may be given',
  }),

  rotateKey: endpoint({
    method: 'POST',
    path: '/v1/participants/rotate-key',
    access: paid(ROTATE_KEY_PRICE, { x402Only: true }),
    reply: json(
      {
        participant_id: idOf('participant'),
        id: idOf('participant'),
        api_key: z.string().nullable().meta({ description: 'shown once; the old key no longer works' }),
        wallet: Address,
        rotated_at: Time,
        secret_withheld: z.boolean().optional(),
      },
      { secrets: ['api_key'] },
    ),
    errors: ['registration_required'],
    summary: 'rotate the API key; the payment proves wallet ownership',
  }),

  onboardProvider: endpoint({
    path: '/v1/provider/onboard',
    access: paid(ONBOARD_PRICE, { x402Only: true }),
    body: jsonBody({
      ...registerFields,
      type: z.enum(['provider', 'both'], 'must be provider or both').optional(),
      services: z.array(z.strictObject(listingFields)).min(1).max(MAX_ONBOARD_SERVICES),
    }),
    reply: json(Registered.extend({ services: z.array(OwnListing) }), { secrets: ['api_key', 'webhook_secret'] }),
    errors: ['terms_required'],
    summary: 'register and list services in one call',
  }),

  getDirectory: endpoint({
    path: '/v1/participants/directory',
    access: open,
    query: z.strictObject({
      type: z.enum(participantTypes).optional(),
      limit: queryInt({ min: 1, max: MAX_PAGE })
        .optional()
        .meta({ description: `rows per page (default: ${DEFAULT_PAGE})` }),
      cursor: z
        .string()
        .min(1)
        .max(MAX_CURSOR_CHARS)
        .optional()
        .meta({ description: 'next_cursor of the previous page' }),
    }),
    reply: json({ participants: z.array(Participant), limit: z.int(), next_cursor: z.string().nullable() }),
    summary: 'publicly listable participants; keyset pagination with `cursor`',
  }),
}

export const participantsApi = {
  getParticipant: endpoint({
    path: '/v1/participants/:id',
    access: openOrKey,
    reply: json(ShownParticipant),
    summary: 'participant profile including `verification_tier`',
  }),

  updateParticipant: endpoint({
    method: 'PUT',
    path: '/v1/participants/:id',
    body: jsonBody({
      name: registerFields.name.optional(),
      description: registerFields.description,
      webhook_url: WebhookUrl.nullable().optional(),
      capabilities: Capabilities.optional(),
      links: z
        .record(z.string().min(1).max(MAX_NAME_CHARS), z.url({ protocol: /^https?$/ }).max(MAX_URL_CHARS))
        .refine((links) => Object.keys(links).length <= MAX_LINKS, `at most ${MAX_LINKS} links`)
        .optional(),
      listable: z.boolean().nullable().optional(),
      endpoint_header: EndpointHeader.nullable()
        .optional()
        .meta({ description: 'sent to your own endpoints; its value is never shown again' }),
      tax: TaxDetails.nullable()
        .optional()
        .meta({ description: 'shown on receipts of your sales and on your statement only; null removes it' }),
      rotate_webhook_secret: z.literal(true).optional(),
      accept_terms: TermsVersion.optional(),
    }),
    reply: json(OwnParticipant),
    summary: 'update own profile',
  }),
}

/** What a participant sees of itself, without secrets, and what only the operator sees. */
const AdminParticipant = OwnParticipant.omit({ webhook_secret: true, previous_secret_until: true })
  .extend({
    suspended_at: Time.nullable().meta({ description: 'start of the suspension (read-only access)' }),
    referred_by: idOf('participant').nullable(),
    balance: z.strictObject({ available: Amount, held: Amount }),
  })
  .meta({ id: 'AdminParticipant' })

export const participantAdminApi = {
  listParticipants: adminEndpoint({
    path: '/dashboard/api/admin/participants',
    query: z.strictObject({
      type: z.enum(participantTypes).optional(),
      tier: z.enum(tiers).optional(),
      ...listQuery(participantFields),
      ...pageQuery,
    }),
    reply: json({ participants: z.array(AdminParticipant), ...paged, ...searched }),
    summary: 'participants, including their private fields',
  }),

  setParticipant: adminEndpoint({
    method: 'PUT',
    path: '/dashboard/api/admin/participants/:id',
    body: jsonBody(
      z
        .strictObject({
          verification_tier: z.enum(tiers).optional(),
          suspended: z.boolean().optional().meta({
            description:
              'true: suspended; its key can only read, its wallet cannot pay, and its listings, plans, products and open requests are hidden',
          }),
          reason: z.string().max(MAX_TEXT_CHARS).regex(/\S/, 'required: give a reason'),
        })
        .refine(
          (body) => body.verification_tier !== undefined || body.suspended !== undefined,
          'verification_tier or suspended: required',
        ),
    ),
    reply: json(AdminParticipant),
    errors: ['conflict', 'not_found'],
    summary: 'set tier, suspend',
  }),
}
