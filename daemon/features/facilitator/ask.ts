import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { z } from 'zod'
import type { Input } from '../../../src/api/endpoint/define.ts'
import { AcceptsV2, type X402Version } from '../../../src/api/endpoint/x402.ts'
import { readPayment } from '../../../src/api/endpoint/x402-header.ts'
import type { facilitatorApi } from '../../../src/api/sections/facilitator.ts'
import {
  MAX_UINT256,
  networks,
  type PaymentCredential,
  type PaymentRequirement,
} from '../../../src/core/authorization.ts'
import { ADDRESS_SHAPE, toWallet, type Wallet } from '../../../src/core/hex.ts'
import { MAX_URL_CHARS } from '../../../src/core/limits.ts'
import { usdc } from '../../../src/core/money.ts'
import type { PaymentFault } from '../../../src/core/payment-fault.ts'
import type { ChainPort } from '../../ports/chain/chain.ts'

type Body = Input<typeof facilitatorApi.verifyPayment>['body']
type JsonObject = Body['paymentPayload']

export type FacilitatorAsk = {
  readonly version: X402Version
  readonly credential: PaymentCredential
  readonly requirement: PaymentRequirement
  /** SHA-256 of the requirement and the resource. */
  readonly fingerprint: string
  readonly required: JsonObject
  readonly payload: JsonObject
  /** URL of the paid resource; null if unknown. */
  readonly resource: string | null
}

export type ReadAsk =
  | { readonly ok: true; readonly asked: FacilitatorAsk }
  | {
      readonly ok: false
      readonly version: X402Version
      readonly fault: PaymentFault
      /** Name of the invalid member of the body, if the payment itself is not at fault. */
      readonly detail?: string
      readonly payer?: Wallet
      /** Set if the requirement is for another chain or token. */
      readonly wrongToken?: { readonly network: string; readonly asset: string }
    }

const Whole = z.string().regex(/^\d{1,78}$/)
const Extra = z.object({ name: z.string().optional(), version: z.string().optional() })

/** The members of a v1 `accepts` entry that souk uses. Servers differ in all other members. */
const RequiredV1 = z.object({
  scheme: z.string(),
  network: z.string(),
  maxAmountRequired: Whole,
  payTo: z.string().regex(ADDRESS_SHAPE),
  asset: z.string().regex(ADDRESS_SHAPE),
  maxTimeoutSeconds: z.number().positive(),
  resource: z.string().optional(),
  extra: Extra.nullish(),
})

const ResourceV2 = z.object({ url: z.string() })

/** Parses a server's request. Its values are verified later. */
export function readAsk(chain: ChainPort, { x402Version, paymentPayload, paymentRequirements }: Body): ReadAsk {
  const version: X402Version = x402Version === 1 ? 1 : 2
  if (x402Version !== version) {
    return { ok: false, version, fault: 'version_unsupported', detail: 'x402Version must be 1 or 2.' }
  }
  const read = readPayment(version, { x402Version: version, ...paymentPayload })
  if (!read.ok) return { ok: false, version, fault: read.fault, detail: `In paymentPayload, ${read.detail}.` }
  const payer = read.credential.authorization.from
  const parsed = version === 1 ? readV1(paymentRequirements) : readV2(paymentRequirements)
  if (typeof parsed === 'string') {
    const detail = `In paymentRequirements, ${parsed} is missing or malformed.`
    return { ok: false, version, fault: 'requirement_mismatch', detail, payer }
  }
  const required = parsed
  const fault = unservedBy(chain, version, required)
  if (fault) {
    const { network, asset } = required
    const isOther = fault === 'network_mismatch' || fault === 'asset_mismatch'
    return { ok: false, version, fault, payer, ...(isOther ? { wrongToken: { network, asset } } : {}) }
  }
  const resource = version === 1 ? required.resource : resourceV2(paymentPayload)
  const asked: FacilitatorAsk = {
    version,
    credential: read.credential,
    requirement: requirementOf(chain, version, required),
    fingerprint: hash('sha256', canonicalize([version, paymentRequirements, resource]) ?? ''),
    required: paymentRequirements,
    payload: paymentPayload,
    resource,
  }
  return { ok: true, asked }
}

type Required = {
  readonly scheme: string
  readonly network: string
  readonly amount: bigint
  readonly payTo: string
  readonly asset: string
  readonly maxTimeoutSeconds: number
  readonly extra: { readonly name?: string | undefined; readonly version?: string | undefined }
  readonly resource: string | null
}

/** @returns the name of the invalid member, if one is invalid */
function readV1(object: JsonObject): Required | string {
  const parsed = RequiredV1.safeParse(object)
  if (!parsed.success) return memberOf(parsed.error)
  const { maxAmountRequired, extra, resource, ...rest } = parsed.data
  return { ...rest, amount: BigInt(maxAmountRequired), extra: extra ?? {}, resource: shown(resource) }
}

function readV2(object: JsonObject): Required | string {
  const parsed = AcceptsV2.safeParse(object)
  if (!parsed.success) return memberOf(parsed.error)
  const { amount, asset, payTo, extra } = parsed.data
  const named = Extra.safeParse(extra ?? {})
  if (!ADDRESS_SHAPE.test(asset)) return 'asset'
  if (!ADDRESS_SHAPE.test(payTo)) return 'payTo'
  if (!named.success) return 'extra'
  return { ...parsed.data, amount: BigInt(amount), extra: named.data, resource: null }
}

function memberOf({ issues }: z.ZodError): string {
  return issues[0]?.path.join('.') || 'it'
}

function resourceV2({ resource }: JsonObject): string | null {
  const parsed = ResourceV2.safeParse(resource)
  return parsed.success ? shown(parsed.data.url) : null
}

function shown(url: string | undefined): string | null {
  return url === undefined || url.length > MAX_URL_CHARS ? null : url
}

/** The fault if a requirement's scheme, network or token is not served here; undefined if all three are. */
function unservedBy(
  { network, asset }: ChainPort,
  version: X402Version,
  { scheme, network: named, asset: token, extra }: Required,
): PaymentFault | undefined {
  if (scheme !== 'exact') return 'scheme_unsupported'
  if (named !== (version === 1 ? network : networks[network].caip2)) return 'network_mismatch'
  if (toWallet(token) !== asset.address) return 'asset_mismatch'
  // Existing v1 client packages sign the token's known name if none is given.
  if (version === 2 && (extra.name === undefined || extra.version === undefined)) return 'domain_missing'
  if ((extra.name ?? asset.name) !== asset.name) return 'domain_name_mismatch'
  return (extra.version ?? asset.version) === asset.version ? undefined : 'domain_version_mismatch'
}

/** The payment must be at least the amount in v1, as with other facilitators, and exactly the amount in v2. */
function requirementOf({ network, asset }: ChainPort, version: X402Version, required: Required): PaymentRequirement {
  const min = usdc(required.amount)
  return {
    price: version === 1 ? { min, max: usdc(MAX_UINT256) } : min,
    payTo: toWallet(required.payTo),
    asset: asset.address,
    network,
    domain: { name: asset.name, version: asset.version },
    maxTimeoutSeconds: required.maxTimeoutSeconds,
  }
}
