import { createHmac, timingSafeEqual } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { apiKeyHeader, balanceHeader } from '../../src/api/endpoint/credentials.ts'
import { type Access, type Endpoint, takesSignIn } from '../../src/api/endpoint/define.ts'
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
import { AppError, invalidField } from '../../src/core/error.ts'
import { type Hex, toWallet, type Wallet } from '../../src/core/hex.ts'
import { personalDigest } from '../../src/core/keccak.ts'
import { isLoopback } from '../../src/core/loopback.ts'
import { type Context, defineResource } from '../kernel/context.ts'
import { hashSecret, installation } from '../kernel/identity.ts'
import { type ParticipantRow, participants, refuseSuspended } from '../kernel/rows.ts'
import { isTestMoney } from '../ports/chain/chain.ts'
import type { Exchange } from './exchange.ts'
import type { CallerOf, SignedIn, TokenBearer } from './handler.ts'

const BEARER = /^Bearer +(\S+)$/i

/** The token of `Authorization: Bearer`, of any kind. */
function readBearer(exchange: Exchange): string | undefined {
  return BEARER.exec(exchange.header('authorization') ?? '')?.[1]
}

/**
 * The API key of a request: `X-API-Key`, `Authorization: Bearer sk_…` or `X-BALANCE-AUTH`.
 * @throws AppError 400 when two are sent and differ.
 */
export function readApiKey(exchange: Exchange): string | undefined {
  const bearer = readBearer(exchange)
  const sent = [
    [apiKeyHeader, exchange.header(apiKeyHeader)],
    ['Authorization', bearer?.startsWith('sk_') ? bearer : undefined],
    [balanceHeader, exchange.header(balanceHeader)],
  ].filter((pair): pair is [string, string] => pair[1] !== undefined)
  const [first] = sent
  const other = sent.find(([, key]) => key !== first?.[1])
  if (first && other) throw invalidField(first[0], `differs from ${other[0]}: send only one key`)
  return first?.[1]
}

const JOB_TOKEN_PREFIX = 'jt_'
const ADMIN_KEY_PREFIX = 'adm_'
const API_KEY_SHAPE = /^sk_[0-9a-f]{40}$/

export async function participantOfKey(ctx: Context, apiKey: string): Promise<ParticipantRow | undefined> {
  if (!API_KEY_SHAPE.test(apiKey)) return undefined
  const page = await ctx.store.table(participants).page('key', [hashSecret(apiKey)], { limit: 1 })
  return page.rows[0]
}

/** Access kinds whose own check reads the API key. For all other kinds, an API key is optional but must be valid. */
const looksAtKeys: ReadonlySet<Access['kind']> = new Set(['key', 'paid', 'key_or_paid', 'key_or_signed'])

/**
 * The caller, as the endpoint's access requires.
 * @throws AppError 401 without a valid credential, 403 for a wrong role.
 */
export async function identify<A extends Access>(
  ctx: Context,
  endpoint: Endpoint,
  exchange: Exchange,
): Promise<CallerOf<A>> {
  if (!looksAtKeys.has(endpoint.access.kind)) await keyed(ctx, exchange)
  const caller = await callerFor(ctx, endpoint, exchange)
  exchange.facts.caller ??= nameOf(caller)
  return caller as CallerOf<A> // the switch below returns what CallerOf says for each kind
}

/** The caller's name in the request log; null for a token, because a token does not identify its bearer. */
function nameOf(caller: Awaited<ReturnType<typeof callerFor>>): string | null {
  if (caller === null || typeof caller === 'string') return caller
  return 'token' in caller ? null : (caller.id ?? caller.wallet)
}

async function callerFor(ctx: Context, endpoint: Endpoint, exchange: Exchange) {
  const { access } = endpoint
  switch (access.kind) {
    case 'open':
      return access.orKey ? keyed(ctx, exchange) : null
    case 'paid':
      return null
    case 'key':
      return keyHolder(ctx, endpoint, exchange)
    case 'admin':
      return isOpened(ctx, endpoint) && !exchange.isForwarded() ? 'admin' : administrator(ctx, exchange)
    case 'token':
      return access.at === 'body' ? null : { token: tokenOf(access.at, exchange) }
    case 'key_or_paid':
      return keyOrToken(ctx, endpoint, exchange)
    case 'key_or_signed':
      return keyed(ctx, exchange)
  }
}

async function keyHolder(ctx: Context, endpoint: Endpoint, exchange: Exchange) {
  const access = endpoint.access as Extract<Access, { kind: 'key' }> // asked by the caller
  const token = readBearer(exchange)
  if (access.orToken && token?.startsWith(JOB_TOKEN_PREFIX)) return { token }
  if (access.orAdmin && token?.startsWith(ADMIN_KEY_PREFIX)) return administrator(ctx, exchange)
  const participant = await keyed(ctx, exchange)
  if (!participant) return withoutKey(ctx, endpoint, exchange)
  if (access.role === 'provider' && participant.type === 'agent') {
    throw new AppError('forbidden', 'Only providers can use this endpoint: register with type `provider` or `both`.')
  }
  if (endpoint.method !== 'GET') refuseSuspended(participant)
  return participant
}

/** Admits a local or signed-in caller without a key, if the endpoint allows it. @throws AppError 401 for all others. */
async function withoutKey(ctx: Context, endpoint: Endpoint, exchange: Exchange) {
  const { access } = endpoint
  if ('orLocal' in access && access.orLocal && isLocalCall(ctx, exchange)) return null
  const visitor = await signedIn(ctx, endpoint, exchange)
  if (!visitor) throw keyNeeded(ctx, endpoint, exchange)
  return visitor
}

function keyNeeded(ctx: Context, endpoint: Endpoint, exchange: Exchange): AppError {
  const { access } = endpoint
  if ('orLocal' in access && access.orLocal) {
    const why = isTestMoney(ctx.chain)
      ? 'Without a key, only this machine may call this endpoint'
      : `This needs a key, because each settlement on ${ctx.chain.network} costs the marketplace gas`
    return new AppError('unauthorized', `${why}: send a participant’s API key, as Authorization: Bearer sk_….`)
  }
  const needed = 'This endpoint needs an API key: send X-API-Key or X-BALANCE-AUTH'
  if (!takesSignIn(endpoint)) return new AppError('unauthorized', `${needed}.`)
  return new AppError('unauthorized', `${needed}, or a wallet sign-in: send ${signInHeader}, see extensions.`, {
    extra: { extensions: signInExtensions(ctx, exchange) },
  })
}

/** The holder of the key that was sent; null without a key. @throws AppError 401 on an unknown key. */
export async function keyed(ctx: Context, exchange: Exchange): Promise<ParticipantRow | null> {
  const sent = readApiKey(exchange)
  if (sent === undefined) return null
  const participant = await participantOfKey(ctx, sent)
  if (!participant) throw new AppError('unauthorized', 'Unknown API key.')
  return participant
}

type Proven = ParticipantRow | SignedIn

async function keyOrToken(ctx: Context, endpoint: Endpoint, exchange: Exchange): Promise<Proven | TokenBearer | null> {
  const token = readBearer(exchange)
  if (token !== undefined && !token.startsWith('sk_')) return { token }
  return (await keyed(ctx, exchange)) ?? signedIn(ctx, endpoint, exchange)
}

/** The signed-in wallet's participant, or the bare wallet if it has no participant. Null without a sign-in. */
async function signedIn(ctx: Context, endpoint: Endpoint, exchange: Exchange): Promise<Proven | null> {
  const wallet = takesSignIn(endpoint) ? signedInWallet(ctx, exchange) : undefined
  if (wallet === undefined) return null
  const page = await ctx.store.table(participants).page('wallet', [wallet], { limit: 1 })
  return page.rows[0] ?? { wallet, id: null }
}

function tokenOf(place: 'header' | 'path', exchange: Exchange): string {
  const token = place === 'path' ? exchange.params.token : readBearer(exchange)
  if (token === undefined)
    throw new AppError('unauthorized', 'This endpoint needs a token: send Authorization: Bearer.')
  return token
}

/** Whether only this machine can call and the money is test money. Then the caller's identity does not matter. */
function isLocalCall({ config, chain }: Context, exchange: Exchange): boolean {
  return isTestMoney(chain) && isLoopback(config.host) && config.publicUrl === undefined && !exchange.isForwarded()
}

function isOpened({ config }: Context, { opensWith }: Endpoint): boolean {
  return opensWith !== undefined && config[opensWith] === true && isLoopback(config.host)
}

function administrator(ctx: Context, exchange: Exchange): 'admin' {
  const token = readBearer(exchange)
  if (token === undefined || hashSecret(token) !== installation.of(ctx).adminKeyHash) {
    throw new AppError('unauthorized', 'This endpoint needs the admin key: send Authorization: Bearer adm_….')
  }
  return 'admin'
}

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
function signedInWallet(ctx: Context, exchange: Exchange): Wallet | undefined {
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
