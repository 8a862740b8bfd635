import { randomBytes } from 'node:crypto'
import { readText } from '../client/files.ts'
import type { PayingAccount, PayPolicy, PayResult } from '../client/pay.ts'
import { getRemote } from '../client/remotes.ts'
import { LOCAL } from '../client/settings.ts'
import { unlockWallet, type Wallet } from '../client/wallets.ts'
import { type Wallet as Address, type Hex, isAddress } from '../core/hex.ts'
import { formatPrice, parseAmount, type Usdc, usdc, ZERO } from '../core/money.ts'
import { CliError } from './exit.ts'
import { isObject } from './output.ts'
import { type Answer, type Call, errorOf, type Session, type SessionHost } from './session.ts'

const PAYMENT_REQUIRED = 402
const NONCE_BYTES = 32
const MS_PER_SECOND = 1_000

/** How an answer was paid for; `none` where nothing had to be paid. */
export type Payment = {
  readonly method: 'none' | 'balance' | 'x402'
  readonly amount: Usdc
  readonly payer: Address | null
  /** Hash of the settling transaction, where the answer names one. */
  readonly transaction: string | null
}

/** What a 402 asks for. */
export type Offer = {
  readonly price: Usdc
  readonly payTo: string
  readonly asset: string
  readonly network: string
  readonly validSeconds: number
}

/** Reads the first entry of a 402. @throws CliError failure when it holds none. */
export function offerOf(answer: Answer): Offer {
  const accepts = isObject(answer.body) && Array.isArray(answer.body.accepts) ? answer.body.accepts : []
  const [entry] = accepts as unknown[]
  if (!isObject(entry) || !/^\d+$/.test(String(entry.maxAmountRequired))) {
    throw new CliError('failure', 'The 402 of this instance holds no offer that can be read.')
  }
  return {
    price: usdc(BigInt(String(entry.maxAmountRequired))),
    payTo: String(entry.payTo),
    asset: String(entry.asset),
    network: String(entry.network),
    validSeconds: Number(entry.maxTimeoutSeconds),
  }
}

export type PaidCall = Call & { readonly idempotencyKey: string }

/** Sends a request unpaid and returns what it would cost; undefined when it costs nothing. */
export async function quote(session: Session, call: PaidCall): Promise<Offer | undefined> {
  const answer = await session.call({ ...call, accept: [PAYMENT_REQUIRED] })
  return answer.status === PAYMENT_REQUIRED ? offerOf(answer) : undefined
}

/**
 * Sends a request and pays if a 402 comes back: from the balance first, else by a signature of the wallet.
 * The same idempotency key goes with every attempt, so a repeat never pays twice.
 * @throws CliError payment when it may not or cannot pay; AppError for what the instance refuses.
 */
export async function pay(host: SessionHost, session: Session, call: PaidCall) {
  const headers = { 'idempotency-key': call.idempotencyKey, ...call.headers }
  const first = await session.call({ ...call, headers, accept: [PAYMENT_REQUIRED] })
  if (first.status !== PAYMENT_REQUIRED) return { answer: first, payment: nothingPaid }
  const offer = offerOf(first)
  allowed(host, offer)
  const fromBalance = await balancePayment(host, session, offer)
  if (fromBalance !== undefined) {
    const answer = await session.call({ ...call, headers: { ...headers, 'x-balance-auth': fromBalance.key } })
    return { answer, payment: paidBy('balance', answer, { amount: offer.price, payer: fromBalance.payer }) }
  }
  return payBySignature(host, session, { call: { ...call, headers }, first, offer })
}

const nothingPaid: Payment = { method: 'none', amount: ZERO, payer: null, transaction: null }

/** Stops above `--max-price` and under `--pay none`, before anything is signed. */
function allowed({ globals }: SessionHost, { price }: Offer): void {
  if (globals.pay === 'none') {
    throw new CliError('payment', `This costs ${formatPrice(price)} and --pay none forbids paying.`, {
      next: ['… --pay auto'],
    })
  }
  if (price > globals.maxPrice) {
    throw new CliError(
      'payment',
      `This costs ${formatPrice(price)}, above the limit of ${formatPrice(globals.maxPrice)}.`,
      {
        facts: ['nothing was paid'],
        next: [`… --max-price ${formatPrice(price).slice(1)}`],
      },
    )
  }
}

type BalancePayment = { key: string; payer: Address | null }

/** The key to pay with from the balance, where that is wanted and the balance suffices. */
async function balancePayment({ globals }: SessionHost, session: Session, offer: Offer) {
  if (globals.pay === 'x402') return undefined
  const key = await session.apiKey()
  const wallet = await session.wallet()
  const found: BalancePayment | undefined = key === undefined ? undefined : { key, payer: wallet?.address ?? null }
  if (globals.pay === 'balance') {
    if (found !== undefined) return found
    throw new CliError('payment', 'There is no balance to pay from: this wallet is not registered here.', {
      next: ['… --pay x402'],
    })
  }
  if (found === undefined) return undefined
  const answer = await session.call({ method: 'GET', path: '/v1/balance', headers: { 'x-api-key': found.key } })
  const available = isObject(answer.body) ? parseAmount(String(answer.body.available)) : undefined
  return available !== undefined && available >= offer.price ? found : undefined
}

type Unpaid = { call: PaidCall; first: Answer; offer: Offer }

async function payBySignature(host: SessionHost, session: Session, { call, first, offer }: Unpaid) {
  const wallet = await session.wallet()
  if (wallet === undefined) {
    throw new CliError('payment', `This costs ${formatPrice(offer.price)} and there is no wallet to pay with.`, {
      next: ['souk wallet new main', 'souk wallet fund'],
    })
  }
  const answer = await session.call({
    ...call,
    headers: { ...call.headers, ...(await signedHeaders(host, session, { wallet, first })) },
    accept: [PAYMENT_REQUIRED],
  })
  if (answer.status === PAYMENT_REQUIRED) throw notAccepted(answer, wallet, offer)
  return { answer, payment: paidBy('x402', answer, { amount: offer.price, payer: wallet.address }) }
}

/**
 * Signs what a 402 asks for, within what may be signed at this instance. The headers are as good as the money.
 * @throws CliError payment for what may not be signed.
 */
export async function signedHeaders(host: SessionHost, session: Session, unsigned: { wallet: Wallet; first: Answer }) {
  const { wallet, first } = unsigned
  const { accountFromKey, payFor402 } = await import('../client/pay.ts')
  const account = await accountFromKey(await unlock(host, wallet))
  const signed = await payFor402({
    response: {
      status: first.status,
      headers: { get: (name) => first.headers[name.toLowerCase()] ?? null },
      body: first.body,
    },
    account: account as PayingAccount,
    policy: policyOf(host, session, offerOf(first)),
    nonce: `0x${randomBytes(NONCE_BYTES).toString('hex')}`,
    nowSeconds: Math.floor(host.system.now() / MS_PER_SECOND),
  })
  if (!signed.ok) throw refused(signed)
  return signed.headers
}

function refused(signed: Extract<PayResult, { ok: false }>): CliError {
  return new CliError('payment', signed.message, {
    facts: ['nothing was signed and nothing was paid'],
    next: ['souk remote list'],
  })
}

function notAccepted(answer: Answer, wallet: Wallet, offer: Offer): CliError {
  const error = errorOf(answer)
  return new CliError('payment', `Payment of ${formatPrice(offer.price)} was not made: ${error.message}`, {
    facts: [`wallet ${wallet.name} (${wallet.address}) was to pay; nothing was charged`],
    next: [`souk wallet fund ${wallet.name}`],
    details: error.extra,
    cause: error,
  })
}

/** The wallet's key; an encrypted one asks for its passphrase, or reads it from the file that is named for it. */
export async function unlock({ io, places, system }: SessionHost, wallet: Wallet): Promise<Hex> {
  return unlockWallet(places, wallet.name, async () => {
    const file = system.env.SOUK_PASSPHRASE_FILE
    const stored = file ? readText(file)?.trimEnd() : undefined
    return stored ?? io.ask(`Passphrase of wallet ${wallet.name}:`, { hidden: true, flag: 'SOUK_PASSPHRASE_FILE=FILE' })
  })
}

/** What may be signed for: a remote's own terms, fixed when it was added; on this machine, the sandbox's token. */
function policyOf({ globals, places }: SessionHost, { target }: Session, offer: Offer): PayPolicy {
  const maxPrice = globals.maxPrice
  const offered = isAddress(offer.asset) ? [offer.asset.toLowerCase() as Address] : []
  if (target.name === LOCAL || isLoopback(target.url)) return { maxPrice, network: 'sandbox', allowedAssets: offered }
  if (target.name === target.url) {
    throw new CliError('payment', 'A one-off address is not paid: its network is not known.', {
      next: [`souk remote add NAME ${target.url} --network base`],
    })
  }
  const remote = getRemote(places, target.name)
  if (remote.network === 'base' || remote.network === 'base-sepolia') {
    return { maxPrice, network: remote.network, allowedAssets: [] }
  }
  return { maxPrice, network: 'sandbox', allowedAssets: (remote.assets ?? []).map((asset) => asset as Address) }
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

function paidBy(method: 'balance' | 'x402', answer: Answer, by: { amount: Usdc; payer: Address | null }): Payment {
  const header = answer.headers['payment-response'] ?? answer.headers['x-payment-response']
  return { method, ...by, transaction: header === undefined ? null : transactionOf(header) }
}

function transactionOf(header: string): string | null {
  try {
    const settled: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
    return isObject(settled) && typeof settled.transaction === 'string' ? settled.transaction : null
  } catch {
    // The header is a courtesy: the answer itself says what was bought.
    return null
  }
}
