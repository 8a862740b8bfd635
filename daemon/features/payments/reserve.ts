import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { formatAmount, type Usdc, usdc } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import type { HistoryType } from '../../../src/model/ledger.ts'
import { type Context, paused } from '../../kernel/context.ts'
import { pauseOf, readPlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import type { Draft, Draw, ReadTx, Tx } from '../../store/port.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { PaymentRefused } from './offer.ts'
import { knownKeys, methodOf, type Order } from './order.ts'
import { signedPayment } from './payer.ts'
import { knownPayment } from './replay.ts'
import { idempotency, type PaymentRow, payments } from './rows.ts'
import { inFlight } from './single-flight.ts'

/** Maximum open payments per wallet. `MAX_OPEN_PAYMENTS_IN_ALL` is the maximum for all wallets together. */
export const MAX_OPEN_PAYMENTS = 256
export const MAX_OPEN_PAYMENTS_IN_ALL = 4_096

export type Reservation = { readonly kind: 'reserved'; readonly payment: PaymentRow } | Refusal

export type Refusal =
  /** The same authorization or `Idempotency-Key` was used before. */
  | { readonly kind: 'known'; readonly payment: PaymentRow }
  /** `settling`: payments of the wallet that may have moved money since its balance was read. */
  | { readonly kind: 'unfunded'; readonly settling: readonly string[] }
  | { readonly kind: 'short'; readonly available: Usdc }

export type Funds = {
  readonly onChain: Usdc
  /** Open payments whose money has already moved. They no longer reserve funds. */
  readonly moved: ReadonlySet<string>
}

type Marked = Pick<PaymentRow, 'state' | 'input' | 'outcome'>

/** Writes the payment row before anything runs. @param marked - row fields of a payment that is settled immediately */
export function reserve(beginning: Beginning & { readonly marked?: Marked }): Promise<Reservation> {
  const { order, marked } = beginning
  return commit(order.ctx, async (t, draw) => {
    const begun = await begin(t, draw, beginning)
    if (begun.kind !== 'begun') return begun
    return { kind: 'reserved', payment: await t.table(payments).put({ ...begun.draft, ...marked }) }
  })
}

type Beginning = { readonly order: Order; readonly id: string; readonly funds: Funds }

/**
 * Reserves within this transaction. Reads the pause flag again, so that a payment is reserved either before a pause
 * begins or after it ends (decisions §12).
 */
export async function begin(
  t: Tx,
  draw: Draw,
  { order, id, funds }: Beginning,
): Promise<Refusal | { readonly kind: 'begun'; readonly draft: Draft<PaymentRow> }> {
  const platform = await readPlatform(t)
  // Lock the id first, so that no other transaction can insert the payment after this check.
  await t.table(payments).getForUpdate(id)
  const known = await knownPayment(t, { id, keys: knownKeys(order.exchange, order.payer) })
  if (known) return { kind: 'known', payment: known }
  if (platform.paused_at !== null) throw paused(pauseOf(platform))
  const draft = draftOf(order, draw, id)
  const refusal = await refusalOf(t, draw, { order, draft, funds })
  if (refusal) return refusal
  if (order.idempotency) {
    await t.table(idempotency).getForUpdate(order.idempotency)
    await t.table(idempotency).put({ id: order.idempotency, payment_id: id, at: order.base.now })
  }
  return { kind: 'begun', draft }
}

type Reserving = { readonly order: Order; readonly draft: Draft<PaymentRow>; readonly funds: Funds }

/** Why a payment cannot be reserved; undefined if it can. A subscription payment needs no money. */
async function refusalOf(t: Tx, draw: Draw, { order, draft, funds }: Reserving): Promise<Refusal | undefined> {
  await refuseTooMany(t, draft.payer)
  if (draft.method === 'x402') return authorizationRefusal(t, draft, funds)
  return draft.method === 'balance' ? holdBalance(t, draw, { order, draft }) : undefined
}

function draftOf(order: Order, draw: Draw, id: string): Draft<PaymentRow> {
  const { base, payer, quote } = order
  const signed = signedPayment(order.credential)
  const method = methodOf(order)
  return {
    id,
    method,
    state: 'reserved',
    open: true,
    payer: payer.wallet,
    participant_id: payer.participant?.id ?? null,
    // The signed value was verified: it equals the price, or lies within the allowed range.
    price: signed ? usdc(signed.authorization.value) : quote.price,
    settle: quote.settle,
    endpoint: order.seller.name,
    input: null,
    fingerprint: order.fingerprint,
    idempotency: order.idempotency,
    receipt_id: draw.id('receipt'),
    request_id: base.requestId,
    authorization: authorizationOf(order),
    terms: quote.terms ?? null,
    outcome: null,
    transaction: null,
    ...(method === 'balance' ? { books: [draw.id('transaction')] } : {}),
    created_at: base.now,
    updated_at: base.now,
  }
}

function authorizationOf({ credential }: Order): PaymentRow['authorization'] {
  const signed = signedPayment(credential)
  if (!signed) return null
  const { to, value, validAfter, validBefore, nonce } = signed.authorization
  return {
    x402_version: signed.version,
    to,
    value: usdc(value),
    valid_after: validAfter,
    valid_before: validBefore,
    nonce,
    signature: signed.signature,
  }
}

/** @throws AppError 429 when the wallet has too many open payments, 503 when all wallets together have too many */
async function refuseTooMany(t: ReadTx, wallet: string): Promise<void> {
  if ((await t.table(payments).count('open_payer', [wallet])) >= MAX_OPEN_PAYMENTS) {
    throw new AppError('rate_limited', `${MAX_OPEN_PAYMENTS} payments of this wallet are still open.`, {
      retryAfter: 1,
    })
  }
  if ((await t.table(payments).count('open', [])) >= MAX_OPEN_PAYMENTS_IN_ALL) {
    throw new AppError('unavailable', 'Too many payments are in progress: try again in a moment.', { retryAfter: 1 })
  }
}

async function authorizationRefusal(
  t: ReadTx,
  { payer, price }: Draft<PaymentRow>,
  funds: Funds,
): Promise<Refusal | undefined> {
  const { rows } = await t.table(payments).page('open_payer', [payer], { limit: MAX_OPEN_PAYMENTS })
  const promised = rows.filter((row) => row.method === 'x402' && row.state !== 'settled' && !funds.moved.has(row.id))
  const reserved = promised.reduce((sum, row) => sum + row.price, 0n)
  if (funds.onChain >= price + reserved) return undefined
  return { kind: 'unfunded', settling: promised.filter((row) => row.state === 'settling').map((row) => row.id) }
}

async function holdBalance(
  t: Tx,
  draw: Draw,
  { order, draft }: Pick<Reserving, 'order' | 'draft'>,
): Promise<Refusal | undefined> {
  const participantId = draft.participant_id as string // a balance payer is known by key
  const available = await balanceOf(t, account.balance(participantId))
  if (available < draft.price) return { kind: 'short', available }
  const [id] = draft.books ?? []
  await post(t, draw, {
    ...compact({ id }),
    kind: 'balance_hold',
    ref: { kind: 'payment', id: draft.id },
    legs: legsOf.balanceHold({ participantId, paymentId: draft.id, amount: draft.price }),
    at: order.base.now,
    shownAs: { type: shownAs(order), ref: { kind: 'receipt', id: draft.receipt_id } },
  })
  return undefined
}

function shownAs({ seller, quote }: Order): HistoryType {
  if (seller.endpoint.access.price !== 'varies') return 'fee'
  return quote.escrow ? 'escrow_hold' : 'purchase'
}

export function insufficientBalance({ price }: Order['quote'], balance: Usdc): PaymentRefused {
  const [required, available] = [formatAmount(price), formatAmount(balance)]
  return new PaymentRefused({
    code: 'insufficient_balance',
    message: `The available balance is $${available}; this costs $${required}.`,
    extra: { required, available },
  })
}

export function insufficientFunds({ payer }: Order): PaymentRefused {
  return new PaymentRefused({ fault: 'insufficient_funds', payer: payer.wallet })
}

/** On-chain balance of a signing wallet. @throws PaymentRefused when the chain does not answer. */
export async function readFunds({ ctx, credential, payer }: Order): Promise<Funds> {
  const isSigned = credential.kind === 'x402'
  return { onChain: isSigned ? await chainSays(ctx, payer.wallet) : usdc(0n), moved: new Set() }
}

/**
 * Waits for the settling payments, then reads the balance again and finds the payments whose money moved.
 * @throws PaymentRefused when `settling` is empty, as the money is then missing, or when the chain does not answer.
 */
export async function fundsAfter(order: Order, settling: readonly string[]): Promise<Funds> {
  const { ctx, payer } = order
  if (settling.length === 0) throw insufficientFunds(order)
  await Promise.allSettled(settling.map((id) => inFlight.of(ctx).get(id)?.answer))
  const moved = new Set<string>()
  for (const id of settling) {
    const payment = await ctx.store.table(payments).get(id)
    if (payment?.open && (await hasMoved(ctx, payment))) moved.add(id)
  }
  return { onChain: await chainSays(ctx, payer.wallet), moved }
}

async function hasMoved({ chain }: Context, { payer, authorization }: PaymentRow): Promise<boolean> {
  return authorization !== null && (await chain.authorizationState(payer, authorization.nonce)).used
}

async function chainSays({ chain, log }: Context, wallet: Wallet): Promise<Usdc> {
  try {
    return await chain.balanceOf(wallet)
  } catch (error) {
    log.warn({ source: 'x402', err: String(error) }, 'the chain did not return a wallet balance')
    throw new PaymentRefused({ fault: 'chain_unavailable', payer: wallet })
  }
}
