import { z } from 'zod'
import { Address, Amount, namedObject, Time } from '../../core/codecs.ts'
import { facilitatedStates } from '../../model/payment.ts'
import { KnownJsonObject } from '../../model/service.ts'
import { clampedLimit, MAX_OFFSET, paged, pageQuery, queryInt } from '../endpoint/common.ts'
import { adminEndpoint, endpointsWith, json, jsonBody, keyOrLocal, namedJson, open } from '../endpoint/define.ts'

const endpoint = endpointsWith({ origin: 'ours', section: 'Facilitator', servedWith: 'facilitator' })

/** Size limit of a request body. It is large because clients echo extensions in their payments. */
const MAX_ASKED_BYTES = 64 * 1024
const MAX_FILTER_CHARS = 200

const JsonObject = KnownJsonObject

/** Body of a facilitator request, in x402 v1 or v2. Unknown members are ignored. */
const Asked = z
  .object({
    x402Version: z.int(),
    paymentPayload: JsonObject.meta({ description: 'decoded payment header of the buyer' }),
    paymentRequirements: JsonObject.meta({ description: 'accepted payment entry of the 402' }),
  })
  .meta({ id: 'FacilitatorRequest' })

const reason = z.string().meta({ description: 'as defined by the x402 version of the request' })
const members = {
  payer: Address.optional(),
  code: z.string().optional().meta({ description: 'reason code, the same in x402 v1 and v2' }),
}

export const facilitatorApi = {
  verifyPayment: endpoint({
    path: '/facilitator/verify',
    access: keyOrLocal,
    body: jsonBody(Asked, { maxBodyBytes: MAX_ASKED_BYTES }),
    reply: namedJson('FacilitatorVerdict', {
      isValid: z.boolean(),
      invalidReason: reason.optional(),
      invalidMessage: z.string().optional(),
      ...members,
    }),
    errors: ['not_found', 'paused', 'unavailable'],
    summary: 'x402 facilitator: verify (v1 and v2)',
  }),

  settlePayment: endpoint({
    path: '/facilitator/settle',
    access: keyOrLocal,
    body: jsonBody(Asked, { maxBodyBytes: MAX_ASKED_BYTES }),
    reply: namedJson('FacilitatorSettlement', {
      success: z.boolean(),
      transaction: z.string().meta({ description: 'transaction hash; empty if none' }),
      network: z.string().meta({ description: 'network name in v1, CAIP-2 id in v2' }),
      errorReason: reason.optional(),
      errorMessage: z.string().optional(),
      amount: z.string().optional().meta({ description: 'transferred amount, in atomic units' }),
      ...members,
    }),
    errors: ['not_found', 'paused', 'unavailable'],
    summary: 'x402 facilitator: settle (v1 and v2)',
  }),

  getSupportedPayments: endpoint({
    path: '/facilitator/supported',
    access: open,
    reply: json({
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
    errors: ['not_found'],
    summary: 'x402 facilitator: kinds',
  }),

  listFacilitatedResources: endpoint({
    path: '/facilitator/discovery/resources',
    access: open,
    query: z.strictObject({
      type: z.string().max(MAX_FILTER_CHARS).optional(),
      payTo: z.string().max(MAX_FILTER_CHARS).optional(),
      scheme: z.string().max(MAX_FILTER_CHARS).optional(),
      network: z.string().max(MAX_FILTER_CHARS).optional().meta({
        description: 'as in the entry: network name (v1) or CAIP-2 id (v2)',
      }),
      extensions: z.string().max(MAX_FILTER_CHARS).optional(),
      limit: clampedLimit,
      offset: queryInt({ min: 0, max: MAX_OFFSET }).optional(),
    }),
    reply: json({
      x402Version: z.literal(2),
      items: z.array(
        namedObject('FacilitatedResource', {
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
        }),
      ),
      pagination: z.strictObject({ limit: z.int(), offset: z.int(), total: z.int() }),
    }),
    errors: ['not_found'],
    summary: 'x402 facilitator: resources paid through it',
  }),
}

export const FacilitatedSettlement = namedObject('FacilitatedSettlement', {
  id: z.string(),
  state: z.enum(facilitatedStates),
  seller: z.string().meta({ description: 'participant that owns the key; `local` if no key was needed' }),
  x402_version: z.int(),
  payer: Address,
  pay_to: Address,
  amount: Amount,
  resource: z.string().nullable(),
  transaction: z.string().nullable(),
  valid_before: Time.nullable().meta({ description: 'null: no expiry' }),
  created_at: Time.meta({ description: 'wall time, like all times here' }),
  settled_at: Time.nullable(),
  handed_at: Time.nullable(),
})

export const facilitatorAdminApi = {
  listFacilitatedSettlements: adminEndpoint({
    path: '/dashboard/api/admin/facilitator',
    query: z.strictObject({
      ...pageQuery,
      state: z.enum(facilitatedStates).optional().meta({ description: 'only settlements in this state' }),
    }),
    reply: json({
      enabled: z.boolean(),
      url: z.string().meta({ description: 'facilitator URL for servers' }),
      keyless: z.boolean().meta({ description: 'true: calls from this machine need no key' }),
      network: z.string(),
      caip2: z.string(),
      asset: z.strictObject({ address: Address, name: z.string(), version: z.string(), decimals: z.int() }),
      pay_to: z.array(Address).meta({ description: 'payees allowed for every key, besides the owner’s wallet' }),
      min_value: Amount,
      daily_gas: z.int(),
      today: z
        .array(z.strictObject({ seller: z.string(), settlements: z.int(), gas: z.int() }))
        .meta({ description: 'settlements by key today (UTC), busiest first' }),
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
        .meta({ description: 'requests to settle tokens of other chains, since the daemon started' }),
      settlements: z.array(FacilitatedSettlement),
      ...paged,
    }),
    summary: 'show facilitator settings and settlements',
  }),
}
