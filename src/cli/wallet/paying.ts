import { randomUUID } from 'node:crypto'
import type { WireAnswer } from '../../api/index.ts'
import type { Asked, Callable } from '../../client/asked.ts'
import { passedOn, readAnswer } from '../../client/call.ts'
import { MAX_PRICE_HEADER, PAID_ANSWER_MS, type RawAnswer, responseOf } from '../../client/exchange.ts'
import { readText } from '../../client/files.ts'
import type { PayPolicy } from '../../client/pay.ts'
import { getRemote } from '../../client/remotes.ts'
import { LOCAL } from '../../client/settings.ts'
import type { Hold } from '../../client/spending/gate.ts'
import { type NamedWallet, unlockWallet } from '../../client/wallets.ts'
import { isId } from '../../client/wire-id.ts'
import type { Network } from '../../core/authorization.ts'
import { checksumAddress, type Hex, type Wallet } from '../../core/hex.ts'
import { isObject } from '../../core/json.ts'
import { staysHere } from '../../core/loopback.ts'
import { formatAmount, formatPrice, parseAmount, type Usdc, usdc, ZERO } from '../../core/money.ts'
import type { SignedOffer } from '../../core/offer-receipt.ts'
import { compact } from '../../core/record.ts'
import { shellLine } from '../../text/text.ts'
import { CliError } from '../exit.ts'
import { isUnauthorized, type RawCall, type Session, type SessionHost } from '../session.ts'
import type { Target } from '../target.ts'
import { answeredUnder, charge, explained, spenderOf, spendOf } from './spending.ts'
import { clockFault, notAccepted, shortBalance, shortFor } from './unpaid.ts'

const PAYMENT_REQUIRED = 402

/** How a request was paid; `none` if it was free. */
export type Payment = {
  readonly method: 'none' | 'balance' | 'x402'
  readonly amount: Usdc
  readonly payer: Hex | null
  /** Settlement transaction, if known. */
  readonly transaction: string | null
}

export type Offer = Awaited<ReturnType<typeof offerOf>>

/** The first payment option of a 402. @throws CliError if there is none, or the 402 contradicts itself */
export async function offerOf(answer: RawAnswer) {
  const { askedBy } = await import('../../client/pay.ts')
  const asked = askedBy(responseOf(answer))
  if (!asked.ok) {
    throw asked.reason === 'malformed_offer'
      ? new CliError('failure', 'The 402 of this instance has no readable payment offer.')
      : refused(asked)
  }
  const { price, payTo, asset, network, maxTimeoutSeconds } = asked
  return {
    price,
    payTo: checksumAddress(payTo),
    asset: checksumAddress(asset),
    network,
    validSeconds: maxTimeoutSeconds,
  }
}

export type PaidCall = RawCall & {
  readonly idempotencyKey: string
  /** Price that the user has seen; a 402 above it is refused. */
  readonly shown?: Usdc | undefined
  readonly stated?: (body: unknown) => Promise<string | undefined>
  /** Item and price, for errors. */
  readonly costs?: string | undefined
}

export type Purchase<K extends string> = Pick<PaidCall, 'shown' | 'costs'> & {
  readonly endpoint: K & Callable
  readonly asked: Asked<K>
  /** (default: `--idempotency-key`, else new) */
  readonly idempotencyKey?: string
  readonly stated?: (answer: WireAnswer<K>) => string
}

/** Sends a request without payment to learn its price; undefined if it is free. */
export async function quote(session: Session, call: RawCall): Promise<Offer | undefined> {
  const answer = await session.send({ ...call, accept: [PAYMENT_REQUIRED] })
  return answer.status === PAYMENT_REQUIRED ? offerOf(answer) : undefined
}

/**
 * Calls an endpoint with `payFor`.
 * @throws BadAnswer if the response is unreadable; the payment and the job's token are recorded all the same
 */
export async function pay<K extends string>(host: SessionHost, session: Session, purchase: Purchase<K>) {
  const {
    endpoint,
    asked,
    shown,
    costs,
    stated,
    idempotencyKey = host.globals.idempotencyKey ?? randomUUID(),
  } = purchase
  const { opens: _opens, ...words } = passedOn(endpoint, asked)
  const { answer, payment } = await payFor(host, session, {
    ...words,
    idempotencyKey,
    shown,
    costs,
    ...(stated ? { stated: (body: unknown) => readAnswer(endpoint, body).then(stated, () => undefined) } : {}),
  })
  try {
    return { answer: await readAnswer(endpoint, answer.body), payment }
  } catch (error) {
    if (payment.method !== 'none') await keepToken(host, session, answer.body)
    throw error
  }
}

/** Form of the token that an anonymous purchase returns. */
const JOB_TOKEN = /^jt_[0-9a-f]{64}$/

/** Saves the job's token from a response that is otherwise unreadable. */
async function keepToken({ places }: SessionHost, { target }: Session, body: unknown): Promise<void> {
  const { job_id: job, thread_id: thread, access_token: token } = isObject(body) ? body : {}
  if (!isId('job', job) || typeof token !== 'string' || !JOB_TOKEN.test(token)) return
  const { keepJobToken } = await import('../../client/secrets.ts')
  keepJobToken(places, target.instance, { job, token, ...(isId('thread', thread) ? { thread } : {}) })
}

/**
 * Sends a request. If the response is a 402, pays from the balance, or else by signature. All attempts share an
 * idempotency key and a price limit, so a repetition never pays twice.
 * @throws CliError payment if paying is not allowed or not possible; AppError for a refusal
 */
export async function payFor(host: SessionHost, session: Session, paid: PaidCall): Promise<PaidFor> {
  const agreed = host.budget.taken()
  try {
    return await payOnce(host, session, paid)
  } catch (error) {
    const { 'x-api-key': key, ...headers } = paid.headers ?? {}
    if (!isUnauthorized(error) || error.extra.unknown_key !== true || key === undefined) throw error
    // A payment was already authorised in this call: do not pay again.
    if (host.budget.taken() !== agreed) throw error
    // The instance does not know the key, so pay as a wallet without an account.
    return payOnce(host, session, { ...paid, headers })
  }
}

type PaidFor = { readonly answer: RawAnswer; readonly payment: Payment }

async function payOnce(host: SessionHost, session: Session, paid: PaidCall): Promise<PaidFor> {
  const { idempotencyKey, shown, costs, stated, ...asked } = paid
  const words = { timeoutMs: host.globals.timeoutMs ?? PAID_ANSWER_MS, ...asked }
  const limit = shown === undefined ? host.globals.maxPrice : least(shown, host.globals.maxPrice)
  const headers = { 'idempotency-key': idempotencyKey, ...words.headers }
  const call: RawCall = { ...words, headers: { [MAX_PRICE_HEADER]: formatAmount(host.budget.left(limit)), ...headers } }
  const first = await session.send({ ...call, accept: [PAYMENT_REQUIRED] })
  if (first.status !== PAYMENT_REQUIRED) return { answer: first, payment: nothingPaid }
  refuseInTheClear(session)
  const offer = await offerOf(first)
  allowed(host, offer, { limit, shown })
  const agreed: RawCall = { ...words, headers: { ...headers, [MAX_PRICE_HEADER]: formatAmount(offer.price) } }
  const fromBalance = await balancePayment(host, session, offer)
  if (fromBalance === undefined)
    return payBySignature(host, session, { call: agreed, first, offer, limit, stated, costs })
  const { key, wallet } = fromBalance
  const { price, payTo } = offer
  const hold = await charge(host, session, { price, limit, wallet, payTo, call: agreed })
  const charged: RawCall = { ...agreed, headers: { ...agreed.headers, 'x-balance-auth': key } }
  const answer = await answeredUnder(host, session, { hold, call: charged }).catch(async (error) => {
    throw await shortFor(host, session, { error, costs })
  })
  return { answer, payment: await paidBy(host, answer, { method: 'balance', offer, payer: wallet.address, stated }) }
}

function least(a: Usdc, b: Usdc): Usdc {
  return a < b ? a : b
}

const nothingPaid: Payment = { method: 'none', amount: ZERO, payer: null, transaction: null }

type Bounds = { readonly limit: Usdc; readonly shown: Usdc | undefined }

/** Runs before the user is asked. @throws CliError with `--pay none`, or above the shown price, or above a limit */
function allowed({ globals, budget }: SessionHost, { price }: Offer, { limit, shown }: Bounds): void {
  if (globals.pay === 'none') {
    throw new CliError('payment', `This costs ${formatPrice(price)} and --pay none forbids paying.`, {
      next: ['… --pay auto'],
    })
  }
  if (shown !== undefined && price > shown) {
    throw new CliError('payment', `This costs ${formatPrice(price)}, but ${formatPrice(shown)} was shown.`, {
      facts: ['nothing was paid'],
    })
  }
  try {
    budget.check(price, limit)
  } catch (error) {
    explained(error)
  }
}

type BalancePayment = { key: string; wallet: NamedWallet }

/** API key and wallet for a balance payment; undefined for x402. @throws CliError if `--pay balance` is impossible */
async function balancePayment({ globals }: SessionHost, session: Session, offer: Offer) {
  if (globals.pay === 'x402') return undefined
  const key = await session.apiKey()
  const wallet = await session.wallet()
  const found: BalancePayment | undefined = key === undefined || wallet === undefined ? undefined : { key, wallet }
  if (globals.pay === 'balance') {
    if (found !== undefined) return found
    throw new CliError('payment', 'No balance: this wallet is not registered on this instance.', {
      next: ['… --pay x402', 'souk account register'],
    })
  }
  if (found === undefined) return undefined
  const available = await session.call('getBalance', { headers: { 'x-api-key': found.key } }).then(
    (balance) => parseAmount(balance.available),
    // The instance does not know the key, so there is no balance.
    (error) => (isUnauthorized(error) ? undefined : Promise.reject(error)),
  )
  return available !== undefined && available >= offer.price ? found : undefined
}

type Stated = PaidCall['stated']
type Unpaid = { call: RawCall; first: RawAnswer; offer: Offer; limit: Usdc; stated: Stated; costs: string | undefined }

async function payBySignature(host: SessionHost, session: Session, unpaid: Unpaid) {
  const { call, first, offer, limit, stated, costs } = unpaid
  const wallet = await session.wallet()
  if (wallet === undefined) {
    const short = await shortBalance(host, session, { price: offer.price, costs })
    if (short !== undefined) throw short
    throw new CliError('payment', `This costs ${formatPrice(offer.price)}, and there is no active wallet to pay it.`, {
      next: ['souk wallet new main', 'souk wallet fund'],
    })
  }
  const { signed, hold, network } = await signPayment(host, session, { wallet, first, limit, call })
  const answer = await answeredUnder(host, session, {
    hold,
    call: {
      ...call,
      headers: { ...call.headers, [MAX_PRICE_HEADER]: formatAmount(signed.price), ...signed.headers },
      accept: [PAYMENT_REQUIRED],
    },
  })
  if (answer.status === PAYMENT_REQUIRED) {
    throw clockFault(answer, host.system.now()) ?? notAccepted(answer, { wallet, price: offer.price, network })
  }
  if (signed.offer) await keepProof(host, hold, { offer: signed.offer, payer: wallet.address, answer })
  const by = { method: 'x402' as const, offer: { ...offer, price: signed.price }, payer: wallet.address, stated }
  return { answer, payment: await paidBy(host, answer, by) }
}

type Proved = { readonly offer: SignedOffer; readonly payer: Hex; readonly answer: RawAnswer }

/** Keeps the signed offer and receipt with the payment. A receipt that proves nothing is told, and not kept. */
async function keepProof({ io }: SessionHost, hold: Hold, { offer, payer, answer }: Proved): Promise<void> {
  const { proofOf } = await import('../../client/spending/proofs.ts')
  const { extensions } = settlementOf(answer)
  try {
    const { job_id, thread_id } = isObject(answer.body) ? answer.body : {}
    hold.keep({ ...(await proofOf(offer, payer, extensions)), ...compact({ job_id, thread_id }) })
  } catch (error) {
    io.warn(
      `! the receipt of this payment proves nothing: ${error instanceof Error ? error.message : 'it is unreadable'}`,
    )
  }
}

type Unsigned = { wallet: NamedWallet; first: RawAnswer; limit: Usdc; call: Pick<RawCall, 'method' | 'path' | 'body'> }

/**
 * Signs the payment that a 402 asks for: within the rules for the instance, and through the spending gate. The signed
 * headers are as good as money.
 * @throws CliError `payment` if not allowed
 */
export async function signPayment(host: SessionHost, session: Session, { wallet, first, limit, call }: Unsigned) {
  const { accountFromKey, askedBy, chooseOffer } = await import('../../client/pay.ts')
  const response = responseOf(first)
  const asked = askedBy(response)
  if (!asked.ok) throw refused(asked)
  const policy = policyOf(host, session, { asset: asked.asset, maxPrice: host.budget.left(limit) })
  if (wallet.well_known && policy.network !== 'sandbox') throw wellKnown(wallet)
  const chosen = chooseOffer(response, policy)
  if (!chosen.ok) throw refused(chosen)
  const spend = { price: chosen.price, limit, wallet, payTo: chosen.payTo, call }
  const { signSpend } = await import('../../client/spending/gate.ts')
  const account = await accountFromKey(await unlock(host, wallet))
  const by = { chosen, account }
  const spent = await signSpend(spenderOf(host), await spendOf(host, session, spend), by).catch(explained)
  return { ...spent, network: policy.network }
}

function wellKnown({ name }: NamedWallet): CliError {
  return new CliError('payment', `Wallet ${name} is a public demo wallet: it can only pay test money.`, {
    facts: ['nothing was signed and nothing was paid'],
    next: ['souk wallet new main'],
  })
}

function refused(signed: { readonly message: string }): CliError {
  return new CliError('payment', signed.message, {
    facts: ['nothing was signed and nothing was paid'],
    next: ['souk remote list'],
  })
}

/** The wallet's private key. If it is encrypted, reads the passphrase from a file, or else asks for it. */
export async function unlock({ io, places, system }: SessionHost, wallet: NamedWallet): Promise<Hex> {
  return unlockWallet(places, wallet.name, async () => {
    const file = system.env.SOUK_PASSPHRASE_FILE
    const stored = file ? readText(file)?.trimEnd() : undefined
    return stored ?? io.ask(`Passphrase of wallet ${wallet.name}:`, { hidden: true, flag: 'SOUK_PASSPHRASE_FILE=FILE' })
  })
}

function isPublic(network: Target['network']): network is Network {
  return network === 'base' || network === 'base-sepolia'
}

type OfferLimits = { readonly asset: Wallet; readonly maxPrice: Usdc }

/** Network and tokens to sign for: public USDC, a remote's saved test tokens, or, on this machine, any test token. */
function policyOf({ places }: SessionHost, { target }: Session, { asset, maxPrice }: OfferLimits): PayPolicy {
  const here: PayPolicy = { maxPrice, network: 'sandbox', allowedAssets: [asset] }
  if (target.name === LOCAL)
    return isPublic(target.network) ? { maxPrice, network: target.network, allowedAssets: [] } : here
  if (target.name === target.url) {
    if (staysHere(target.url)) return here
    throw new CliError('payment', 'A URL that is not a saved remote cannot be paid: its network is unknown.', {
      next: [shellLine`souk remote add NAME ${target.url} --network base`],
    })
  }
  const remote = getRemote(places, target.name)
  if (isPublic(remote.network)) {
    return { maxPrice, network: remote.network, allowedAssets: [] }
  }
  return staysHere(target.url) ? here : { maxPrice, network: 'sandbox', allowedAssets: remote.assets ?? [] }
}

/** Refuses payments over plain HTTP, where others on the network could take them. */
function refuseInTheClear({ target }: Session): void {
  if (target.name === LOCAL || target.url.startsWith('https:') || staysHere(target.url)) return
  throw new CliError(
    'payment',
    `Payments are not sent over plain HTTP to ${target.name}: others on the network could read them.`,
    {
      facts: [target.url, 'souk up --tls on that machine serves https, and prints how to add it here'],
      next: [shellLine`souk remote add NAME https://${new URL(target.url).host}`],
    },
  )
}

/** The amount that the response says was paid, else the signed amount. */
async function paidBy(
  { budget, io }: SessionHost,
  answer: RawAnswer,
  { method, offer, payer, stated }: { method: 'balance' | 'x402'; offer: Offer; payer: Hex | null; stated: Stated },
): Promise<Payment> {
  const settled = settlementOf(answer)
  const amount = amountIn(settled, await stated?.(answer.body)) ?? offer.price
  if (amount > offer.price) {
    io.warn(`! the response says ${formatPrice(amount)} was charged; ${formatPrice(offer.price)} was authorised`)
  }
  budget.spend(amount, offer.price)
  return { method, amount, payer, transaction: typeof settled.transaction === 'string' ? settled.transaction : null }
}

function amountIn(settled: Readonly<Record<string, unknown>>, stated: string | undefined): Usdc | undefined {
  const inBody = stated === undefined ? undefined : parseAmount(stated)
  if (inBody !== undefined) return inBody
  return typeof settled.amount === 'string' && /^\d{1,18}$/.test(settled.amount)
    ? usdc(BigInt(settled.amount))
    : undefined
}

/** The settlement in the header of x402 v2 or v1; empty if there is none. */
function settlementOf({ headers }: RawAnswer): Readonly<Record<string, unknown>> {
  const header = headers['payment-response'] ?? headers['x-payment-response']
  if (header === undefined) return {}
  try {
    const settled: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
    return isObject(settled) ? settled : {}
  } catch {
    // The header is optional.
    return {}
  }
}
