import { SignInExtensions, signInExtension, signInHeader, signInPayload, signInText } from '../api/endpoint/sign-in.ts'
import { toBase64, x402Headers } from '../api/endpoint/x402.ts'
import { decodeObject } from '../api/endpoint/x402-header.ts'
import { networks } from '../core/authorization.ts'
import type { Hex } from '../core/hex.ts'
import { isObject } from '../core/json.ts'

/** Longest `PAYMENT-REQUIRED` header that is searched for a challenge. */
const HEADER_MAX_CHARS = 16_384
/** Challenge values must be single lines, so that no value can imitate another line of the signed text. */
const LINE = /^[\x20-\x7e]{1,2048}$/
const CHAINS: readonly string[] = Object.values(networks).map(({ caip2 }) => caip2)

type Answer = {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: unknown
}

/** Part of a viem `LocalAccount` needed for signing in. */
export type SigningAccount = { readonly address: Hex; signMessage(message: { message: string }): Promise<Hex> }

/**
 * A response with a sign-in challenge, the requested URL and the account that signs. The challenge must name that URL.
 */
export type SignIn = { readonly answer: Answer; readonly url: string; readonly account: SigningAccount }

/**
 * The header that signs in, after a 401 or 402 (CAIP-122 over EIP-191).
 * @returns undefined without a challenge, or if the challenge names another URL, where the signature could be misused
 */
export async function signIn({ answer, url, account }: SignIn): Promise<Readonly<Record<string, string>> | undefined> {
  const challenge = challengeOf(answer)
  if (challenge === undefined) return undefined
  const { info, supportedChains } = challenge
  const chain = supportedChains.find(({ chainId }) => CHAINS.includes(chainId))
  const here = new URL(url)
  const lines = [
    info.domain,
    info.uri,
    info.statement,
    info.nonce,
    info.issuedAt,
    info.expirationTime,
    ...info.resources,
  ]
  const isForHere = info.domain === here.host && [info.uri, ...info.resources].every((uri) => uri === here.href)
  if (chain === undefined || !isForHere || !lines.every((line) => LINE.test(line))) return undefined
  const signature = await account.signMessage({ message: signInText(info, { ...chain, address: account.address }) })
  const payload = signInPayload({ ...challenge, supportedChains: [chain] }, { address: account.address, signature })
  return { [signInHeader]: toBase64(payload) }
}

function challengeOf({ headers, body }: Answer) {
  const required = headers.get(x402Headers.requiredV2)
  const decoded = required === null ? undefined : decodeObject(required, HEADER_MAX_CHARS)
  const found = [decoded?.ok ? decoded.object : undefined, body].map((object) => {
    const extensions = isObject(object) ? object.extensions : undefined
    return SignInExtensions.safeParse(extensions).data?.[signInExtension]
  })
  return found.find((challenge) => challenge !== undefined)
}
