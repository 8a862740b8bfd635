import { z } from 'zod'
import type { Answer } from '../../../src/api/endpoint/define.ts'
import { toBase64, type X402Version } from '../../../src/api/endpoint/x402.ts'
import { api } from '../../../src/api/index.ts'
import type { facilitatorApi } from '../../../src/api/sections/facilitator.ts'
import { AppError } from '../../../src/core/error.ts'
import { checksumAddress, type Hex, type Wallet } from '../../../src/core/hex.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { usdc } from '../../../src/core/money.ts'
import { faultReason, faultSentences, type PaymentFault } from '../../../src/core/payment-fault.ts'
import { compact } from '../../../src/core/record.ts'
import { DAY_MS, SECOND_MS } from '../../../src/core/time.ts'
import type { Call, Encoded, FreeHandlers } from '../../endpoint/handler.ts'
import { type Context, defineResource, paused } from '../../kernel/context.ts'
import { wrongTokens } from '../../kernel/wrong-tokens.ts'
import type { Draft, ReadTx } from '../../store/port.ts'
import { authorizationId } from '../payments/order.ts'
import { type FacilitatorAsk, type ReadAsk, readAsk } from './ask.ts'
import { type Catalogued, catalogue, resourcesFor, typeOf } from './catalogue.ts'
import { faultOf, repeatedFault } from './checks.ts'
import { join, wait } from './flights.ts'
import { hand, isHanded, isKept, type Receiver, type SettleOutcome } from './hand.ts'
import { refuseSpent, rulesOf, type ServedSeller, sellerOf, spend } from './policy.ts'
import { type ResourceRow, type SettlementRow, settlements } from './rows.ts'

type FacilitatorPath = 'verify' | 'settle' | 'supported' | 'discovery'
/** `ok`, the fault, or `refused` if the request ended in an error. */
type FacilitatorResult = 'ok' | 'refused' | PaymentFault

/** Number of requests since the daemon started, by path and result. There are few paths and results. */
export type FacilitatorCounts = {
  readonly add: (path: FacilitatorPath, result: FacilitatorResult) => void
  readonly all: () => readonly { readonly path: string; readonly result: string; readonly count: number }[]
}

export const facilitatorCounts = defineResource<FacilitatorCounts>('facilitator-counts')

export function countingRequests(): FacilitatorCounts {
  const counts = new Map<string, { path: string; result: string; count: number }>()
  return {
    add(path, result) {
      const key = `${path} ${result}`
      const known = counts.get(key)
      if (known) known.count += 1
      else counts.set(key, { path, result, count: 1 })
    },
    all: () => [...counts.values()],
  }
}

type Settlement = Answer<typeof facilitatorApi.settlePayment>

export const facilitatorRoutes: FreeHandlers<typeof facilitatorApi> = {
  verifyPayment: async ({ body }, call) => {
    const read = readFor(call, body)
    const fault = read.ok ? await counted(call, 'verify', () => verdictOf(call, read.asked)) : read.fault
    facilitatorCounts.of(call.ctx).add('verify', fault ?? 'ok')
    return verdict(read, fault)
  },

  settlePayment: async ({ body }, call) => {
    const { ctx } = call
    const read = readFor(call, body)
    const outcome: SettleOutcome = read.ok
      ? await counted(call, 'settle', () => outcomeOf(call, read.asked))
      : { ok: false, fault: read.fault }
    facilitatorCounts.of(ctx).add('settle', outcome.ok ? 'ok' : outcome.fault)
    const answer = settlement(ctx, read, outcome)
    const listed = read.ok && outcome.ok ? await listedAs(ctx, read.asked) : undefined
    return listed === undefined ? answer : withExtensions(answer, listed)
  },

  getSupportedPayments: async (_, { ctx }) => {
    facilitatorCounts.of(ctx).add('supported', 'ok')
    const { network, caip2 } = ctx.chain
    const sender = ctx.chain.status?.().gas?.address
    const kind = { scheme: 'exact' } as const
    return {
      kinds: [
        { x402Version: 2, ...kind, network: caip2 },
        { x402Version: 1, ...kind, network },
      ],
      extensions: ['bazaar'],
      // A sandbox ledger has no account that sends transactions, so it has no signer.
      signers: { 'eip155:*': sender === undefined ? [] : [checksumAddress(sender)] },
    }
  },

  listFacilitatedResources: async ({ query }, { ctx }) => {
    facilitatorCounts.of(ctx).add('discovery', 'ok')
    const { limit = DEFAULT_PAGE, offset = 0, ...filter } = query
    const rows = await resourcesFor(ctx, filter)
    const items = rows.slice(offset, offset + limit).map(shownResource)
    return { x402Version: 2, items, pagination: { limit, offset, total: rows.length } }
  },
}

/** Parses a request. Also reports a wrong token to the operator. */
function readFor({ ctx, caller, wall }: FacilitatorCall, body: Parameters<typeof readAsk>[1]): ReadAsk {
  const read = readAsk(ctx.chain, body)
  if (!read.ok && read.wrongToken) {
    wrongTokens.of(ctx).add({ ...read.wrongToken, seller: sellerOf(caller).id, fault: read.fault, at: wall })
  }
  return read
}

/** Counts a request as `refused` if `work` throws, for example during a pause. The caller counts all other results. */
async function counted<T>({ ctx }: Pick<Call, 'ctx'>, path: FacilitatorPath, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    facilitatorCounts.of(ctx).add(path, 'refused')
    throw error
  }
}

type FacilitatorCall = Call<typeof facilitatorApi.verifyPayment.access>

/** Why a payment would not be settled for the caller; undefined if it would. */
async function verdictOf(
  { ctx, caller, wall }: FacilitatorCall,
  asked: FacilitatorAsk,
): Promise<PaymentFault | undefined> {
  const seller = sellerOf(caller)
  const known = await ctx.store.table(settlements).get(idOf(ctx, asked))
  if (known) {
    // A repeat of a settled but undelivered payment is still valid.
    if (isHanded(ctx, known) || !isRepeated(known, { asked, seller })) return 'nonce_used'
    return repeatedFault(ctx, asked)
  }
  refusePaused(ctx)
  const fault = await faultOf(ctx, asked, seller)
  if (fault === undefined) {
    const { dailyGas } = rulesOf(ctx)
    await ctx.store.read((t) => refuseSpent(t, { seller, wall, dailyGas }))
  }
  return fault
}

/** Refuses requests while paid activity is paused. Not called for payments that were settled earlier. */
function refusePaused({ switches }: Context): void {
  const switched = switches.now()
  if (switched.paused) throw paused(switched)
}

function verdict(read: ReadAsk, fault: PaymentFault | undefined): Answer<typeof facilitatorApi.verifyPayment> {
  const payer = payerOf(read)
  if (fault === undefined) return { isValid: true, ...compact({ payer }) }
  return {
    isValid: false,
    invalidReason: faultReason(fault, versionOf(read)),
    invalidMessage: sentenceOf(read, fault),
    code: fault,
    ...compact({ payer }),
  }
}

/** Why a request is refused. `detail` is preferred, because it names the body member as the server sent it. */
function sentenceOf(read: ReadAsk, fault: PaymentFault): string {
  return (read.ok ? undefined : read.detail) ?? faultSentences[fault]
}

function payerOf(read: ReadAsk): Wallet | undefined {
  return read.ok ? read.asked.credential.authorization.from : read.payer
}

function versionOf(read: ReadAsk): X402Version {
  return read.ok ? read.asked.version : read.version
}

/** Adds the paid resource to the catalogue. Only logs an error, so that the payment's success is still reported. */
async function listedAs(ctx: Context, asked: FacilitatorAsk): Promise<Catalogued | undefined> {
  try {
    return await catalogue(ctx, asked)
  } catch (error) {
    ctx.log.error({ source: 'facilitator', err: String(error) }, 'the paid resource was not added to the catalogue')
    return undefined
  }
}

async function outcomeOf(call: FacilitatorCall, asked: FacilitatorAsk): Promise<SettleOutcome> {
  const { ctx, caller, signal, sent } = call
  const seller: ServedSeller = sellerOf(caller)
  const settling = { ctx, asked, seller, signal, sent }
  const known = await ctx.store.table(settlements).get(idOf(ctx, asked))
  if (!known) {
    refusePaused(ctx)
    const fault = await faultOf(ctx, asked, seller)
    // A concurrent copy of the request may have settled the payment.
    if (fault && !(fault === 'nonce_used' && (await ctx.store.table(settlements).get(idOf(ctx, asked))))) {
      return { ok: false, fault }
    }
  }
  return finish(settling, known ?? (await begin(settling)))
}

function settlement({ chain }: Context, read: ReadAsk, outcome: SettleOutcome): Settlement {
  const version = versionOf(read)
  const network = version === 1 ? chain.network : chain.caip2
  const payer = payerOf(read)
  if (outcome.ok) {
    const amount = outcome.row.amount.toString()
    return { success: true, transaction: outcome.transaction, network, amount, ...compact({ payer }) }
  }
  const { fault, transaction = '' } = outcome
  return {
    success: false,
    transaction,
    network,
    errorReason: faultReason(fault, version),
    errorMessage: sentenceOf(read, fault),
    code: fault,
    ...compact({ payer }),
  }
}

/** The response with the result of the `bazaar` extension, in the form that existing client packages read. */
function withExtensions(answer: Settlement, bazaar: Catalogued): Encoded {
  const { schema } = api.settlePayment.reply
  return {
    bytes: Buffer.from(JSON.stringify(z.encode(schema, answer))),
    cache: 'no-store',
    headers: { 'EXTENSION-RESPONSES': toBase64({ bazaar }) },
  }
}

function shownResource(row: ResourceRow) {
  return {
    resource: row.resource,
    type: typeOf(row),
    x402Version: row.x402_version,
    accepts: [row.accepts],
    lastUpdated: row.updated_at,
    description: row.description,
    mimeType: row.mime_type,
    ...compact({ serviceName: row.service_name ?? undefined }),
    tags: row.tags,
    extensions: row.extensions,
  }
}

/** Maximum settlements of one payer that wait for the chain. `MAX_SENT` limits those of all payers. */
const MAX_SENT_OF_PAYER = 256
const MAX_SENT = 4_096
/** Maximum time for which a row is kept because its authorization is still usable. */
const MAX_NEEDED_MS = 3_650 * DAY_MS

type Settling = Receiver & { readonly asked: FacilitatorAsk; readonly seller: ServedSeller }

function idOf(ctx: Context, { credential }: FacilitatorAsk): string {
  return authorizationId(ctx, credential)
}

/** Whether a request repeats a settlement: seller, requirement and signed bytes are the same. */
function isRepeated(row: SettlementRow, { asked, seller }: Pick<Settling, 'asked' | 'seller'>): boolean {
  const { authorization, signature } = asked.credential
  return (
    row.seller === seller.id &&
    row.requirement === asked.fingerprint &&
    row.signature === signature &&
    row.pay_to === authorization.to &&
    row.amount === authorization.value &&
    row.valid_after === authorization.validAfter &&
    row.valid_before === authorization.validBefore
  )
}

/** Stores a settlement before it is sent. @returns the existing row, or the new one */
function begin({ ctx, asked, seller }: Settling): Promise<SettlementRow> {
  const wall = ctx.clock.wall()
  const { dailyGas } = rulesOf(ctx)
  return ctx.store.tx(async (t) => {
    const id = idOf(ctx, asked)
    const known = await t.table(settlements).getForUpdate(id)
    if (known) return known
    await refuseTooMany(t, asked.credential.authorization.from)
    if (seller.wallet !== null) await spend(t, { seller, wall, dailyGas })
    return t.table(settlements).put(draftOf(id, { asked, seller, wall }))
  })
}

type Beginning = { readonly asked: FacilitatorAsk; readonly seller: ServedSeller; readonly wall: number }

function draftOf(id: string, { asked, seller, wall }: Beginning): Draft<SettlementRow> {
  const { authorization, signature } = asked.credential
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const end = validBefore * BigInt(SECOND_MS)
  const latest = wall + MAX_NEEDED_MS
  return {
    id,
    seller: seller.id,
    requirement: asked.fingerprint,
    state: 'sent',
    x402_version: asked.version,
    payer: from,
    pay_to: to,
    amount: usdc(value),
    valid_after: validAfter,
    valid_before: validBefore,
    nonce,
    signature,
    resource: asked.resource,
    transaction: null,
    needed_until: end < BigInt(latest) ? Number(end) : latest,
    created_at: wall,
    settled_at: null,
    handed_at: null,
  }
}

/** @throws AppError 429 if the payer has too many waiting settlements, 503 if all payers together have too many */
async function refuseTooMany(t: ReadTx, payer: string): Promise<void> {
  if ((await t.table(settlements).count('sent_payer', [payer])) >= MAX_SENT_OF_PAYER) {
    throw new AppError('rate_limited', `${MAX_SENT_OF_PAYER} payments of this wallet are being settled.`, {
      retryAfter: 1,
    })
  }
  if ((await t.table(settlements).count('state', ['sent'])) >= MAX_SENT) {
    throw new AppError('unavailable', 'Too many payments are being settled: try again in a moment.', { retryAfter: 1 })
  }
}

/**
 * Settles a payment. The success is delivered once, to a connected caller whose request equals the stored request. If
 * the wait ends without a result, the response is `settlement_pending`, but the money may still move.
 */
async function finish(settling: Settling, row: SettlementRow): Promise<SettleOutcome> {
  const { ctx } = settling
  if (!isRepeated(row, settling) || isHanded(ctx, row)) return { ok: false, fault: 'duplicate_settlement' }
  if (row.state !== 'sent') return isKept(ctx, row) ? hand(settling, row.id) : { ok: false, fault: 'expired' }
  const flight = join(ctx, row)
  const result = await wait(ctx, flight, settling.signal())
  if (result === undefined) return pending(ctx, row)
  if (result.ok) return hand(settling, row.id, result.transaction)
  if (result.failure === 'unavailable') return pending(ctx, row, result.transaction)
  return { ok: false, fault: result.fault }
}

/** Response for a settlement in progress. After this response, existing server packages retry. */
async function pending({ chain }: Context, row: SettlementRow, hash?: Hex): Promise<SettleOutcome> {
  // Without a hash, ask the chain for it. If the chain does not know it either, the response has no hash.
  const known = hash ?? (await chain.authorizationState(row.payer, row.nonce).catch(() => undefined))?.transaction
  return { ok: false, fault: 'settlement_pending', ...(known === undefined ? {} : { transaction: known }) }
}
