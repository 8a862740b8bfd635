import { createHmac, timingSafeEqual } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  isOfKind,
  readSignIn,
  SIGN_IN_MAX_AGE_MS,
  type SignInInfo,
  type SignInPayload,
  signInChallenge,
  signInExtension,
  signInHeader,
  signInText,
} from '../../src/api/endpoint/sign-in.ts'
import { AppError } from '../../src/core/error.ts'
import { type Hex, toWallet, type Wallet } from '../../src/core/hex.ts'
import { personalDigest } from '../../src/core/keccak.ts'
import type { Context } from '../kernel/context.ts'
import { defineResource } from '../kernel/resource.ts'
import type { Exchange } from './exchange.ts'

const STATEMENT = 'Read what this wallet bought or sold. This is no payment.'
const SALT_BYTES = 8
const NONCE_CHARS = 32
const NONCE_SHAPE = new RegExp(`^[0-9a-f]{${NONCE_CHARS}}$`)
const SALT_CHARS = SALT_BYTES * 2
/** Maximum number of used nonces kept in memory. Each is dropped when its challenge has expired. */
const USED_MAX = 20_000

/** Secret for challenges; never stored, since a challenge lives for minutes only. */
const signInKey = defineResource<Buffer>('sign-in-key')
const KEY_BYTES = 32

/** Used nonces with their time of use, oldest first. */
const usedNonces = defineResource<Map<string, number>>('sign-in-nonces')

export function openSignInKey(ctx: Context): void {
  signInKey.open(ctx, ctx.entropy(KEY_BYTES))
  usedNonces.open(ctx, new Map())
}

type SignInRequest = Pick<Exchange, 'path'>

/** A fresh sign-in challenge for this path, in the form of the `extensions` of a 402 or a 401. Nothing is stored. */
export function signInExtensions(ctx: Context, asked: SignInRequest): Record<string, unknown> {
  const salt = ctx.entropy(SALT_BYTES).toString('hex')
  const info = infoOf(ctx, asked, { salt, issuedMs: ctx.clock.wall() })
  return { [signInExtension]: signInChallenge(info, ctx.chain.network) }
}

type Issued = { readonly salt: string; readonly issuedMs: number }

function infoOf(ctx: Context, { path }: SignInRequest, { salt, issuedMs }: Issued): SignInInfo {
  const uri = `${ctx.baseUrl()}${path}`
  const domain = new URL(uri).host
  const issuedAt = new Date(issuedMs).toISOString()
  return {
    domain,
    uri,
    version: '1',
    statement: STATEMENT,
    nonce: `${salt}${nonceTag(ctx, [domain, uri, issuedAt, salt])}`,
    issuedAt,
    expirationTime: new Date(issuedMs + SIGN_IN_MAX_AGE_MS).toISOString(),
    resources: [uri],
  }
}

/** A tag, bound to one path and one time, that verifies a nonce without a stored list. */
function nonceTag(ctx: Context, bound: readonly string[]): string {
  return createHmac('sha256', signInKey.of(ctx))
    .update(JSON.stringify(bound))
    .digest('hex')
    .slice(0, NONCE_CHARS - SALT_CHARS)
}

/**
 * The wallet that signed in; undefined without a sign-in header. A header is accepted once, so it cannot be replayed.
 * @throws AppError 401 with a fresh challenge when the sign-in is invalid, expired or meant for another path.
 */
export function signedInWallet(ctx: Context, exchange: Exchange): Wallet | undefined {
  const sent = exchange.header(signInHeader)
  if (sent === undefined) return undefined
  const read = readSignIn(sent)
  const found = read.ok ? walletOf(ctx, exchange, read.payload) : { fault: read.detail }
  if ('wallet' in found) return found.wallet
  throw new AppError('unauthorized', `${signInHeader} is not accepted: ${found.fault}.`, {
    extra: { extensions: signInExtensions(ctx, exchange) },
  })
}

type Found = { readonly wallet: Wallet } | { readonly fault: string }

function walletOf(ctx: Context, asked: SignInRequest, payload: SignInPayload): Found {
  const issuedMs = Date.parse(payload.issuedAt)
  const age = ctx.clock.wall() - issuedMs
  if (!isOfKind(payload, ctx.chain.network)) return { fault: 'it is for another chain or wallet type' }
  const uri = `${ctx.baseUrl()}${asked.path}`
  if (payload.uri !== uri) return { fault: `it was signed for another URI; expected ${uri}` }
  if (!NONCE_SHAPE.test(payload.nonce) || Number.isNaN(issuedMs))
    return { fault: 'its nonce was not issued by this marketplace' }
  const info = infoOf(ctx, asked, { salt: payload.nonce.slice(0, SALT_CHARS), issuedMs })
  if (payload.domain !== info.domain) return { fault: `it was signed for another host; expected ${info.domain}` }
  if (!timingSafeEqual(Buffer.from(payload.nonce), Buffer.from(info.nonce)))
    return { fault: 'its nonce was not issued for this time and URI' }
  if (age < 0 || age > SIGN_IN_MAX_AGE_MS)
    return { fault: `it was not signed within the last ${SIGN_IN_MAX_AGE_MS / 1000} s` }
  if (!isUnchanged(payload, info)) return { fault: 'it differs from the challenge' }
  const { address, signature, chainId } = payload
  const signer = ctx.recover(personalDigest(signInText(info, { address, chainId })), signature as Hex) // its shape was read
  if (signer !== toWallet(address)) return { fault: 'the signature does not match its address' }
  return use(ctx, payload.nonce) ? { wallet: signer } : { fault: 'its nonce was already used' }
}

/** Marks a nonce as used. @returns false if it already was. */
function use(ctx: Context, nonce: string): boolean {
  const used = usedNonces.of(ctx)
  if (used.has(nonce)) return false
  const wall = ctx.clock.wall()
  for (const [old, at] of used) {
    if (wall - at <= SIGN_IN_MAX_AGE_MS && used.size < USED_MAX) break
    used.delete(old)
  }
  used.set(nonce, wall)
  return true
}

/** Whether the signed text equals the challenge exactly. Otherwise the wallet could have agreed to something else. */
function isUnchanged(payload: SignInPayload, info: SignInInfo): boolean {
  const { address: _, signature: __, chainId: ___, type: ____, signatureScheme: _____, ...signed } = payload
  return isDeepStrictEqual(signed, info)
}
