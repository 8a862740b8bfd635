import { errorOf, type RawAnswer } from '../../client/exchange.ts'
import type { PayPolicy } from '../../client/pay.ts'
import type { NamedWallet } from '../../client/wallets.ts'
import { AppError } from '../../core/error.ts'
import { isObject } from '../../core/json.ts'
import { formatAmount, formatPrice, parseAmount, type Usdc, usdc, ZERO } from '../../core/money.ts'
import { shellLine } from '../../text/text.ts'
import { CliError } from '../exit.ts'
import type { Globals } from '../globals.ts'
import type { Session, SessionHost } from '../session.ts'

type Short = {
  readonly price: Usdc
  readonly available: Usdc
  /** Name of the wallet to which the balance belongs. */
  readonly who: string
  /** Item and price: `svc_… costs $1.00 + 5%`. */
  readonly costs: string | undefined
  readonly pay: Globals['pay']
  readonly hasWallet: boolean
  readonly requestId?: string
}

/** The error if the balance is too low and nothing else can pay. */
function shortOfMoney({ price, available, who, costs, pay, hasWallet, requestId }: Short): CliError {
  const missing = usdc(price - available)
  const why = hasWallet
    ? `--pay ${pay} uses only the balance`
    : `wallet "${who}" has no signing key for x402, so only the balance can pay`
  return new CliError(
    'payment',
    `Payment of ${formatPrice(price)} was not made: ${who} has ${formatPrice(available)} available.`,
    {
      facts: [`${costs ?? `it costs ${formatPrice(price)}`}; ${why}`],
      next: [
        `souk balance deposit ${formatAmount(missing)}`,
        hasWallet ? '… --pay x402' : shellLine`souk wallet import ${who}`,
      ],
      ...(requestId === undefined ? {} : { requestId }),
    },
  )
}

/** The required and the available amount in a refusal; undefined unless the refusal states both. */
function shortageIn(extra: Readonly<Record<string, unknown>>) {
  const { required, available, request_id: requestId } = isObject(extra) ? extra : {}
  const [price, there] = [amountIn(required), amountIn(available)]
  if (price === undefined || there === undefined || there > price) return undefined
  return { price, available: there, ...(typeof requestId === 'string' ? { requestId } : {}) }
}

function amountIn(value: unknown): Usdc | undefined {
  return typeof value === 'string' ? parseAmount(value) : undefined
}

/** If a refusal says that money is missing, adds the amounts; returns any other error unchanged. */
export async function shortFor(
  { globals }: SessionHost,
  session: Session,
  { error, costs }: { readonly error: unknown; readonly costs: string | undefined },
): Promise<unknown> {
  const short = error instanceof AppError && error.code === 'insufficient_balance' && shortageIn(error.extra)
  if (!short) return error
  const wallet = await session.wallet()
  const who = wallet?.name ?? session.target.name
  return shortOfMoney({ ...short, who, costs, pay: globals.pay, hasWallet: wallet !== undefined })
}

/** The error if only the balance can pay, because this machine lacks the wallet; undefined without an API key. */
export async function shortBalance(
  { globals: { pay } }: SessionHost,
  session: Session,
  { price, costs }: { readonly price: Usdc; readonly costs: string | undefined },
) {
  const key = await session.apiKey()
  if (key === undefined) return undefined
  const available = parseAmount((await session.call('getBalance', { headers: { 'x-api-key': key } })).available) ?? ZERO
  return shortOfMoney({ price, available, who: session.target.name, costs, pay, hasWallet: false })
}

/** A clock difference below this is not the cause of a refused payment. */
const CLOCK_SKEW_MS = 5_000

/** The error for a payment that was refused because the two clocks differ; undefined for any other refusal. */
export function clockFault(answer: RawAnswer, now: number): CliError | undefined {
  const error = errorOf(answer)
  const there = Date.parse(answer.headers.date ?? '')
  const reason = isObject(answer.body) ? String(answer.body.error) : ''
  if (!/valid_(before|after)/.test(reason) || !(Math.abs(now - there) >= CLOCK_SKEW_MS)) return undefined
  const off = `${Math.round(Math.abs(now - there) / 1_000)} s ${now < there ? 'behind' : 'ahead of'}`
  return new CliError('payment', `The clock of this machine is ${off} the clock of the instance.`, {
    facts: [
      `this machine: ${new Date(now).toISOString()}, the instance: ${new Date(there).toISOString()}`,
      'a payment is valid for only a few minutes, so it was refused; nothing was charged',
      'set the clock, then run the command again',
    ],
    details: error.extra,
    cause: error,
  })
}

type Turned = { readonly wallet: NamedWallet; readonly price: Usdc; readonly network: PayPolicy['network'] }

export function notAccepted(answer: RawAnswer, { wallet, price, network }: Turned): CliError {
  const error = errorOf(answer)
  const said = `paying wallet: ${wallet.name} (${wallet.address}); nothing was charged`
  const isTest = network === 'sandbox'
  return new CliError('payment', `Payment of ${formatPrice(price)} was not made: ${error.message}`, {
    facts: isTest ? [said] : [said, `real money: send USDC on ${network} to that address`],
    next: [isTest ? shellLine`souk wallet fund ${wallet.name}` : shellLine`souk wallet show ${wallet.name}`],
    details: error.extra,
    cause: error,
    ...(typeof error.extra.request_id === 'string' ? { requestId: error.extra.request_id } : {}),
  })
}
