import { z } from 'zod'
import { Address, Amount } from '../../core/codecs.ts'
import { facilitatedStates } from '../../model/payment.ts'
import { KnownJsonObject } from '../../model/service.ts'
import { clampedLimit, MAX_OFFSET, pageQuery, queryInt, Time } from '../endpoint/common.ts'
import { admin, defineEndpoint, json, jsonBody, keyOrLocal, open } from '../endpoint/define.ts'

const ours = { origin: 'ours', section: 'Facilitator', servedWith: 'facilitator' } as const

/** Payment body with echoed extensions. */
const MAX_ASKED_BYTES = 64 * 1024
const MAX_FILTER_CHARS = 200

const JsonObject = KnownJsonObject

/** Requests of both generations; unknown members are ignored. */
const Asked = z
  .object({
    x402Version: z.int(),
    paymentPayload: JsonObject.meta({ description: 'what the payment header of the buyer holds' }),
    paymentRequirements: JsonObject.meta({ description: 'the entry of the 402 that it is for' }),
  })
  .meta({ id: 'FacilitatorRequest' })

const reason = z.string().meta({ description: 'in the words of the generation that was spoken' })
const members = {
  payer: Address.optional(),
  code: z.string().optional().meta({ description: 'the reason in one word, the same in both generations' }),
}

export const facilitatorApi = {
  verifyPayment: defineEndpoint({
    method: 'POST',
    path: '/facilitator/verify',
    access: keyOrLocal,
    ...ours,
    body: jsonBody(Asked, { maxBodyBytes: MAX_ASKED_BYTES }),
    reply: json(
      z
        .strictObject({
          isValid: z.boolean(),
          invalidReason: reason.optional(),
          invalidMessage: z.string().optional(),
          ...members,
        })
        .meta({ id: 'FacilitatorVerdict' }),
    ),
    errors: ['invalid_request', 'unauthorized', 'forbidden', 'not_found', 'rate_limited', 'paused', 'unavailable'],
    summary: 'x402 facilitator: verify (v1 and v2)',
  }),

  settlePayment: defineEndpoint({
    method: 'POST',
    path: '/facilitator/settle',
    access: keyOrLocal,
    ...ours,
    body: jsonBody(Asked, { maxBodyBytes: MAX_ASKED_BYTES }),
    reply: json(
      z
        .strictObject({
          success: z.boolean(),
          transaction: z.string().meta({ description: 'its hash; empty where there is none' }),
          network: z.string().meta({ description: 'its name in v1, its CAIP-2 id in v2' }),
          errorReason: reason.optional(),
          errorMessage: z.string().optional(),
          amount: z.string().optional().meta({ description: 'atomic units that moved' }),
          ...members,
        })
        .meta({ id: 'FacilitatorSettlement' }),
    ),
    errors: ['invalid_request', 'unauthorized', 'forbidden', 'not_found', 'rate_limited', 'paused', 'unavailable'],
    summary: 'x402 facilitator: settle (v1 and v2)',
  }),

  getSupportedPayments: defineEndpoint({
    method: 'GET',
    path: '/facilitator/supported',
    access: open,
    ...ours,
    reply: json(
      z.strictObject({
        kinds: z.array(
          z.strictObject({
            x402Version: z.int(),
            scheme: z.string(),
            network: z.string(),
            extra: JsonObject.optional().meta({ description: 'the token: its address, decimals, and EIP-712 domain' }),
          }),
        ),
        extensions: z.array(z.string()),
        signers: z.record(z.string(), z.array(z.string())),
      }),
    ),
    errors: ['not_found'],
    summary: 'x402 facilitator: kinds',
  }),

  listFacilitatedResources: defineEndpoint({
    method: 'GET',
    path: '/facilitator/discovery/resources',
    access: open,
    ...ours,
    query: z.strictObject({
      type: z.string().max(MAX_FILTER_CHARS).optional(),
      payTo: z.string().max(MAX_FILTER_CHARS).optional(),
      scheme: z.string().max(MAX_FILTER_CHARS).optional(),
      network: z.string().max(MAX_FILTER_CHARS).optional().meta({
        description: 'as the entry has it: the name of v1, or the CAIP-2 id of v2',
      }),
      extensions: z.string().max(MAX_FILTER_CHARS).optional(),
      limit: clampedLimit,
      offset: queryInt({ min: 0, max: MAX_OFFSET }).optional(),
    }),
    reply: json(
      z.strictObject({
        x402Version: z.literal(2),
        items: z.array(
          z
            .strictObject({
              resource: z.string(),
              type: z.enum(['http', 'mcp']),
              x402Version: z.int(),
              accepts: z.array(JsonObject),
              lastUpdated: Time,
              description: z.string(),
              mimeType: z.string(),
              serviceName: z.string().optional(),
              tags: z.array(z.string()),
              extensions: JsonObject,
            })
            .meta({ id: 'FacilitatedResource' }),
        ),
        pagination: z.strictObject({ limit: z.int(), offset: z.int(), total: z.int() }),
      }),
    ),
    errors: ['invalid_request', 'not_found'],
    summary: 'x402 facilitator: what was paid for through it',
  }),
}

const Settlement = z
  .strictObject({
    id: z.string(),
    state: z.enum(facilitatedStates),
    seller: z.string().meta({ description: 'participant whose key asked; local where none was needed' }),
    x402_version: z.int(),
    payer: Address,
    pay_to: Address,
    amount: Amount,
    resource: z.string().nullable(),
    transaction: z.string().nullable(),
    valid_before: Time.nullable().meta({ description: 'null: later than any date' }),
    created_at: Time.meta({ description: 'wall time, as all of these' }),
    settled_at: Time.nullable(),
    handed_at: Time.nullable(),
  })
  .meta({ id: 'FacilitatedSettlement' })

export const facilitatorAdminApi = {
  listFacilitatedSettlements: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/facilitator',
    access: admin,
    origin: 'ours',
    section: 'Administration',
    query: z.strictObject({
      ...pageQuery,
      state: z.enum(facilitatedStates).optional().meta({ description: 'only those in this state' }),
    }),
    reply: json(
      z.strictObject({
        enabled: z.boolean(),
        url: z.string().meta({ description: 'what servers are pointed at' }),
        keyless: z.boolean().meta({ description: 'whether this machine needs no key' }),
        network: z.string(),
        caip2: z.string(),
        asset: z.strictObject({ address: Address, name: z.string(), version: z.string(), decimals: z.int() }),
        pay_to: z.array(Address).meta({ description: 'payees of any key, besides its own wallet' }),
        min_value: Amount,
        daily_gas: z.int(),
        today: z
          .array(z.strictObject({ seller: z.string(), settlements: z.int(), gas: z.int() }))
          .meta({ description: 'what keys settled today (UTC), the busiest first' }),
        wrong_tokens: z
          .array(
            z.strictObject({
              seller: z.string(),
              fault: z.string(),
              network: z.string(),
              asset: z.string(),
              count: z.int(),
              at: Time,
            }),
          )
          .meta({ description: 'tokens of other chains that servers asked to settle here since the start' }),
        settlements: z.array(Settlement),
        total: z.int(),
        limit: z.int(),
        offset: z.int(),
      }),
    ),
    errors: ['invalid_request'],
    summary: 'show facilitator settings and settlements',
  }),
}
