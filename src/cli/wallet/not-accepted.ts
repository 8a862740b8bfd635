import { errorOf, type RawAnswer } from '../../client/exchange.ts'
import type { PayPolicy } from '../../client/pay.ts'
import type { NamedWallet } from '../../client/wallets.ts'
import { isObject } from '../../core/json.ts'
import { formatPrice, type Usdc } from '../../core/money.ts'
import { shellLine } from '../../text/text.ts'
import { CliError } from '../exit.ts'

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
