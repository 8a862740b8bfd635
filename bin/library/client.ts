import { randomBytes } from 'node:crypto'
import type { Session } from '../../src/cli/session.ts'
import { payeeOf } from '../../src/cli/wallet/spending.ts'
import { passedOn, readAnswer, type Words, wordsOf } from '../../src/client/call.ts'
import {
  dispatched,
  MAX_PRICE_HEADER,
  PAID_ANSWER_MS,
  type RawAnswer,
  responseOf,
  settled,
  withHeaders,
} from '../../src/client/exchange.ts'
import {
  accountFromKey,
  askedBy,
  type Chosen,
  chooseOffer,
  type PayingAccount,
  readPaymentResponse,
} from '../../src/client/pay.ts'
import { placesOf } from '../../src/client/settings.ts'
import { createBudget } from '../../src/client/spending/budget.ts'
import { chargeSpend, type Spend, type Spender, signSpend } from '../../src/client/spending/gate.ts'
import { policyOf } from '../../src/client/spending/policy.ts'
import { SpendRefused } from '../../src/client/spending/refused.ts'
import { createTransport, type Transport, TransportError } from '../../src/client/transport.ts'
import { AppError } from '../../src/core/error.ts'
import { checksumAddress, toWallet, type Wallet } from '../../src/core/hex.ts'
import { formatAmount, parseAmount, type Usdc, usdc, ZERO } from '../../src/core/money.ts'
import { unixSeconds } from '../../src/core/time.ts'
import type { AnswerOf, AskedOf, CallName } from './calls.ts'

export { AppError as SoukError, TransportError }

const PAYMENT_REQUIRED = 402
const FIRST_ERROR = 400
const NONCE_BYTES = 32
/** Times that one signed payment is sent again when no answer came: it can settle once only. */
const MAX_REPEATS = 3
const REPEAT_AFTER_MS = 250

/** Signs for a wallet: a local account of viem, or anything with these two members. */
export type SigningAccount = {
  readonly address: `0x${string}`
  readonly signTypedData: (typed: never) => Promise<`0x${string}`>
}

/** What may be signed without asking anybody. Amounts are decimal USDC, as `"0.10"`. */
export type ClientSpending = {
  /** Most that one payment may cost. */
  readonly perPayment: string
  /** Most that all payments of this client may cost together. */
  readonly total?: string
  /**
   * `sandbox`: test money of the instance alone, never USDC of Circle. A real network: only Circle's USDC there.
   * @default 'sandbox'
   */
  readonly network?: 'sandbox' | 'base' | 'base-sepolia'
  /** Tokens of a sandbox that are paid with; the one that the instance names in `/health` unless given. */
  readonly assets?: readonly string[]
  /** Asked before each signature; false refuses it. */
  readonly approve?: (payment: AskedPrice) => boolean | Promise<boolean>
}

/** What a 402 asks for. */
export type AskedPrice = {
  readonly price: string
  readonly payTo: string
  readonly asset: string
  readonly network: string
}

export type ClientOptions = {
  /** Origin of the instance, as `http://127.0.0.1:4020`. */
  readonly url: string
  /** Of a participant: opens what is its own, and pays from its balance. */
  readonly apiKey?: string
  /** Of the operator. */
  readonly adminKey?: string
  /** Signs payments: a private key, or an account. */
  readonly wallet?: `0x${string}` | SigningAccount
  readonly spend?: ClientSpending
  /** Folder of `souk config`; what `souk wallet policy` says there of the wallet holds besides. That of the user unless given. */
  readonly configDir?: string
  /**
   * Send keys over plain HTTP to another machine, where anybody on the way reads them. Payments never go so.
   * @default false
   */
  readonly plainCredentials?: boolean
  /** Longest wait for an answer (default: 30 s; where something is bought, as long as the work on it may take). */
  readonly timeoutMs?: number
}

export type PayOptions = {
  /** Most that this call may cost, decimal USDC; the policy holds besides. */
  readonly maxPrice?: string
  /** @default 'x402' */
  readonly from?: 'x402' | 'balance'
}

export type Paid<K extends CallName> = {
  readonly answer: AnswerOf<K>
  /** null where nothing had to be paid. */
  readonly paid: {
    readonly price: string
    readonly from: 'x402' | 'balance'
    readonly transaction: string | null
  } | null
}

export type SoukClient = {
  readonly url: string
  /** Checksummed; undefined without a wallet. */
  readonly address: string | undefined
  /** Decimal USDC that this client has signed for. */
  readonly spent: () => string
  /**
   * Calls an endpoint; never pays.
   * @throws SoukError for a refusal: `payment_required` where it costs something. TransportError where no answer came.
   */
  call<K extends CallName>(name: K, asked: AskedOf<K>): Promise<AnswerOf<K>>
  /** What a call would cost; undefined where it costs nothing. Nothing is signed. */
  quote<K extends CallName>(name: K, asked: AskedOf<K>): Promise<AskedPrice | undefined>
  /**
   * Calls an endpoint and pays what it costs. An answer that is lost on the way is asked for again with the same
   * signature, which can settle only once.
   * @throws SoukError `payment_required` where policy or limit forbids it: nothing was signed then.
   */
  pay<K extends CallName>(name: K, asked: AskedOf<K>, options?: PayOptions): Promise<Paid<K>>
}

/** A client of one instance, typed by its contract. */
export async function createClient(options: ClientOptions): Promise<SoukClient> {
  const { url, wallet } = options
  const account = typeof wallet === 'string' ? await accountFromKey(wallet) : wallet
  const address = account && checksumAddress(toWallet(account.address))
  const state: Hand = { options, transport: transportTo(options), account, purse: purseOf(options.spend) }
  return {
    url,
    address,
    spent: () => formatAmount(state.purse.spent()),
    call: async (name, asked) =>
      readAnswer(name, settled(await dispatched(state.transport, patientWords(state, name, asked))).body),
    quote: async (name, asked) => {
      const answer = await dispatched(state.transport, passedOn(name, asked))
      if (answer.status === PAYMENT_REQUIRED) return shown(askedIn(answer))
      settled(answer)
      return undefined
    },
    pay: (name, asked, how = {}) => pay(state, { name, words: patientWords(state, name, asked), how }),
  }
}

type Hand = {
  readonly options: ClientOptions
  readonly transport: Transport
  readonly account: SigningAccount | undefined
  readonly purse: Purse
}

/** A call in words; one that may buy something waits for as long as that may take, unless the client says otherwise. */
function patientWords({ options }: Hand, name: CallName, asked: unknown): Words {
  const words = passedOn(name, asked)
  const isPatient = options.timeoutMs === undefined && words.opens.endsWith('paid')
  return isPatient ? { timeoutMs: PAID_ANSWER_MS, ...words } : words
}

type Payment<K extends CallName> = { readonly name: K; readonly words: Words; readonly how: PayOptions }

async function pay<K extends CallName>(hand: Hand, { name, words, how }: Payment<K>): Promise<Paid<K>> {
  const first = await dispatched(hand.transport, words)
  if (first.status !== PAYMENT_REQUIRED) return { answer: await readAnswer<K>(name, settled(first).body), paid: null }
  const from = how.from ?? 'x402'
  const offer = await offerIn(hand, first, how)
  const agreed = withHeaders(words, { [MAX_PRICE_HEADER]: formatAmount(offer.price) })
  const answer = await (from === 'balance' ? charged : signedAndSent)(hand, offer, agreed)
  const { body } = settled(answer)
  const receipt = readPaymentResponse(responseOf(answer).headers)
  const paid = { price: formatAmount(offer.price), from, transaction: receipt?.transaction ?? null }
  return { answer: await readAnswer<K>(name, body), paid }
}

/** From the balance that the instance keeps: what it refuses it has not taken. */
async function charged(hand: Hand, offer: Chosen, words: Words): Promise<RawAnswer> {
  const { apiKey } = hand.options
  if (apiKey === undefined) throw new AppError('unauthorized', 'To pay from the balance the client needs an apiKey.')
  const take = hand.purse.take(offer.price)
  const gated = await gateOf(hand, offer, words)
  const hold = gated && (await chargeSpend(...gated).catch(take.undone))
  const answer = await insisted(hand.transport, withHeaders(words, { 'x-balance-auth': apiKey }))
  if (answer.status >= FIRST_ERROR) take.back()
  // Whoever answers is a stranger to the log of the machine: what was refused stays counted there.
  else hold?.settle()
  return answer
}

/** By a signature: handed over, it may be used until it expires, whatever is answered. It counts as spent. */
async function signedAndSent(hand: Hand, offer: Chosen, words: Words): Promise<RawAnswer> {
  if (hand.account === undefined) throw new AppError('payment_required', 'To sign a payment the client needs a wallet.')
  // `SigningAccount` asks less of its types than paying does, so that any account of any version fits.
  const account = hand.account as unknown as PayingAccount
  const take = hand.purse.take(offer.price)
  const gated = await gateOf(hand, offer, words)
  const nonce = `0x${randomBytes(NONCE_BYTES).toString('hex')}` as const
  const { signed, hold } = await (gated
    ? signSpend(...gated, { chosen: offer, account })
    : offer
        .sign({ account, nonce, nowSeconds: unixSeconds(Date.now()) })
        .then((signed) => ({ signed, hold: undefined }))
  ).catch(take.undone)
  const answer = await insisted(hand.transport, withHeaders(words, signed.headers))
  if (answer.status < FIRST_ERROR) hold?.settle()
  return answer
}

/** What the gate of this machine is asked, where somebody has set a policy for the wallet there. */
async function gateOf(hand: Hand, offer: Chosen, words: Words): Promise<[Spender, Spend] | undefined> {
  const { options, account, transport } = hand
  const places = options.configDir === undefined ? placesOf(process.env) : { config: options.configDir }
  if (account === undefined || policyOf(places, account.address) === undefined) return undefined
  const at = new URL(options.url).origin
  const call: Session['call'] = async (name, asked) =>
    readAnswer(name, settled(await dispatched(transport, passedOn(name, asked))).body)
  const payee = { at, instance: at, ...(await payeeOf({ call }, words)), payTo: offer.payTo }
  const wallet = { name: account.address, address: account.address }
  // Whoever approves has been asked by now.
  const approve = async () => (options.spend?.approve ? true : undefined)
  const { price } = offer
  const spend = { price, limit: price, wallet, payee, call: `${words.method} ${words.path}` }
  return [{ places, budget: createBudget(), now: Date.now, approve }, spend]
}

/** What a 402 asks for, where policy, limit and `approve` allow it. @throws SoukError payment_required */
async function offerIn(hand: Hand, answer: RawAnswer, { maxPrice }: PayOptions): Promise<Chosen> {
  const { spend } = hand.options
  if (spend === undefined) throw forbidden('the client has no spend policy')
  const limits = [spend.perPayment, ...(maxPrice === undefined ? [] : [maxPrice])].map(limitOf)
  const smallest = limits.reduce((least, one) => (one < least ? one : least))
  const allowedAssets = spend.assets?.map(toWallet) ?? [await assetOf(hand)]
  const policy = { maxPrice: smallest, network: spend.network ?? 'sandbox', allowedAssets }
  const chosen = chooseOffer(responseOf(answer), policy)
  if (!chosen.ok) throw new AppError('payment_required', chosen.message)
  // Of several that a 402 offers, the one that will be signed is shown.
  if (spend.approve && !(await spend.approve(shown(chosen)))) throw forbidden('it was not approved')
  return chosen
}

function limitOf(text: string): Usdc {
  const amount = parseAmount(text)
  if (amount === undefined) throw new AppError('invalid_request', `${JSON.stringify(text)} is no amount of USDC.`)
  return amount
}

function forbidden(why: string): AppError {
  return new AppError('payment_required', `Nothing was signed: ${why}.`)
}

/** The token of the instance, as it says itself; real USDC is no token of a sandbox, whatever it says. */
async function assetOf({ transport }: Hand): Promise<Wallet> {
  const { body } = settled(await dispatched(transport, wordsOf('getHealth', {})))
  return toWallet((await readAnswer('getHealth', body)).chain.asset)
}

/** Counts what was signed for, at once and for good: two payments at a time never pass the total together. */
type Purse = { readonly spent: () => Usdc; readonly take: (price: Usdc) => Taking }
type Taking = {
  readonly back: () => void
  /** Gives it back and fails. */
  readonly undone: (error: unknown) => never
}

function purseOf(spend: ClientSpending | undefined): Purse {
  const total = spend?.total === undefined ? undefined : limitOf(spend.total)
  let spent: Usdc = ZERO
  return {
    spent: () => spent,
    take(price) {
      if (total !== undefined && spent + price > total) {
        const left = formatAmount(usdc(total - spent))
        throw forbidden(`${formatAmount(price)} USDC is more than the ${left} left of the total of the policy`)
      }
      spent = usdc(spent + price)
      const back = () => {
        spent = usdc(spent - price)
      }
      const undone = (error: unknown): never => {
        back()
        if (!(error instanceof SpendRefused)) throw error
        throw new AppError('payment_required', error.message, { extra: { rule: error.rule }, cause: error })
      }
      return { back, undone }
    },
  }
}

function transportTo({ url, apiKey, adminKey, plainCredentials, timeoutMs }: ClientOptions): Transport {
  return createTransport({
    baseUrl: url,
    headers: {
      accept: 'application/json',
      'user-agent': 'souk-client',
      ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
      ...(adminKey === undefined ? {} : { authorization: `Bearer ${adminKey}` }),
    },
    ...(plainCredentials ? { inTheClear: 'credentials' } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
}

function askedIn(answer: RawAnswer) {
  const asked = askedBy(responseOf(answer))
  if (!asked.ok) throw new AppError('payment_required', asked.message)
  return asked
}

function shown({ price, payTo, asset, network }: Pick<ReturnType<typeof askedIn>, keyof AskedPrice>): AskedPrice {
  return { price: formatAmount(price), payTo: checksumAddress(payTo), asset: checksumAddress(asset), network }
}

/** The very same request until an answer comes: what it pays with can be used once only. */
async function insisted(transport: Transport, words: Words): Promise<RawAnswer> {
  for (let times = 1; ; times += 1) {
    try {
      return await dispatched(transport, words)
    } catch (error) {
      // A file is read while it is sent: it cannot be sent again.
      if (!(error instanceof TransportError) || times === MAX_REPEATS || words.file !== undefined) throw error
      await new Promise((done) => setTimeout(done, REPEAT_AFTER_MS))
    }
  }
}
