import { z } from 'zod'
import { type Network, networks } from '../../core/authorization.ts'
import type { Hex } from '../../core/hex.ts'
import { at } from '../../core/record.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { decodeObject } from './x402-header.ts'

/** Sign-in without payment: CAIP-122 over EIP-191, as in x402's extension. */
export const signInHeader = 'SIGN-IN-WITH-X'
/** Member of `extensions` with the challenge. */
export const signInExtension = 'sign-in-with-x'
/** Lifetime of a challenge and of its answer (decisions §3). */
export const SIGN_IN_MAX_AGE_MS = 5 * MINUTE_MS
const SIGN_IN_HEADER_MAX_CHARS = 8_192

const ADDRESS_TEXT = /^0x[0-9a-fA-F]{40}$/

/** Signed content of a challenge, except wallet and chain. */
const SignInInfo = z.object({
  domain: z.string().meta({ description: 'host and port that the signature is for' }),
  uri: z.string().meta({ description: 'absolute URL of the resource, without its query' }),
  version: z.literal('1'),
  statement: z.string(),
  nonce: z.string(),
  issuedAt: z.string().meta({ format: 'date-time' }),
  expirationTime: z.string().meta({ format: 'date-time' }),
  resources: z.array(z.string()),
})
export type SignInInfo = z.infer<typeof SignInInfo>

/** Header content: challenge, chain, wallet, signature. */
export const SignInPayload = z.object({
  ...SignInInfo.shape,
  version: z.string(),
  statement: z.string().optional(),
  expirationTime: z.string().optional(),
  resources: z.array(z.string()).optional(),
  notBefore: z.string().optional(),
  requestId: z.string().optional(),
  chainId: z.string(),
  type: z.string(),
  signatureScheme: z.string().optional(),
  address: z.string().regex(ADDRESS_TEXT),
  signature: z.string().regex(/^0x[0-9a-fA-F]*$/),
})
export type SignInPayload = z.infer<typeof SignInPayload>

const SIGNATURE_TYPE = 'eip191'

/** Sign-in challenge in a 402 or 401. */
export const SignInChallenge = z
  .object({
    info: SignInInfo,
    supportedChains: z.array(z.object({ chainId: z.string(), type: z.literal(SIGNATURE_TYPE) })).min(1),
    schema: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema of the header’s object' }),
  })
  .meta({
    id: 'SignInChallenge',
    description: `sign it and send it as ${signInHeader}: proves the wallet without a payment`,
  })
export type SignInChallenge = z.infer<typeof SignInChallenge>

export const SignInExtensions = z.object({ [signInExtension]: SignInChallenge })

const { $schema: _, ...payloadSchema } = z.toJSONSchema(SignInPayload, { io: 'input' })

export function signInChallenge(info: SignInInfo, network: Network): SignInChallenge {
  const supportedChains = [{ chainId: networks[network].caip2, type: SIGNATURE_TYPE } as const]
  return { info, supportedChains, schema: payloadSchema }
}

/** The text that a wallet signs (EIP-4361). */
export function signInText(info: SignInInfo, signer: { readonly address: string; readonly chainId: string }): string {
  return [
    `${info.domain} wants you to sign in with your Ethereum account:`,
    signer.address,
    '',
    info.statement,
    '',
    `URI: ${info.uri}`,
    `Version: ${info.version}`,
    `Chain ID: ${signer.chainId.replace(/^eip155:/, '')}`,
    `Nonce: ${info.nonce}`,
    `Issued At: ${info.issuedAt}`,
    `Expiration Time: ${info.expirationTime}`,
    'Resources:',
    ...info.resources.map((resource) => `- ${resource}`),
  ].join('\n')
}

/** Header content for a signed challenge; see `signInText`. */
export function signInPayload(
  { info, supportedChains }: SignInChallenge,
  signed: { readonly address: string; readonly signature: Hex },
): SignInPayload {
  const { chainId, type } = at(supportedChains, 0)
  return { ...info, chainId, type, ...signed }
}

export type ReadSignIn = { ok: true; payload: SignInPayload } | { ok: false; detail: string }

/** Parses the header without verifying it. `detail` names the invalid part, never its content. */
export function readSignIn(headerValue: string): ReadSignIn {
  const decoded = decodeObject(headerValue, SIGN_IN_HEADER_MAX_CHARS)
  if (!decoded.ok) return decoded
  const parsed = SignInPayload.safeParse(decoded.object)
  if (parsed.success) return { ok: true, payload: parsed.data }
  const path = parsed.error.issues[0]?.path.join('.')
  return { ok: false, detail: path ? `${path} is missing or malformed` : 'it is not an object' }
}

/** Whether the payload has an EIP-191 signature for this chain. No other kind is accepted. */
export function isOfKind(
  { chainId, type, signatureScheme = SIGNATURE_TYPE }: SignInPayload,
  network: Network,
): boolean {
  return chainId === networks[network].caip2 && type === SIGNATURE_TYPE && signatureScheme === SIGNATURE_TYPE
}
