import { endpoints } from '../../client/endpoints.ts'
import type { RawAnswer } from '../../client/exchange.ts'
import { LOCAL } from '../../client/settings.ts'
import type { Hold, Spend, Spender } from '../../client/spending/gate.ts'
import { policyOf, type Recipient } from '../../client/spending/policy.ts'
import { SpendRefused } from '../../client/spending/refused.ts'
import type { NamedWallet } from '../../client/wallets.ts'
import { AppError } from '../../core/error.ts'
import { isObject } from '../../core/json.ts'
import type { Usdc } from '../../core/money.ts'
import { CliError } from '../exit.ts'
import type { RawCall, Session, SessionHost } from '../session.ts'

const PAYMENT_REQUIRED = 402
/** Payee of API fees. */
const MARKET = 'market'

/** Creates the spender of a command, which asks for approval on the terminal. */
export function spenderOf({ places, budget, system, io, approve, unlessSet }: SessionHost): Spender {
  return {
    places,
    budget,
    now: () => system.now(),
    approve:
      approve ??
      (async (question) =>
        io.canAsk ? (await io.ask(`${question} Type yes:`, ASKED)).trim().toLowerCase() === 'yes' : undefined),
    ...(unlessSet === undefined ? {} : { unlessSet }),
  }
}

// `--yes` does not approve a payment: a flag must not defeat the limit above which the user is asked.
const ASKED = { flag: '… in a terminal' }

export type Wanted = {
  readonly price: Usdc
  readonly limit: Usdc
  readonly wallet: NamedWallet
  readonly payTo: string
  readonly call: Pick<RawCall, 'method' | 'path' | 'body'>
}

/** The payment as the spending gate expects it. The seller is looked up only if a policy applies to the wallet. */
export async function spendOf(host: SessionHost, session: Session, wanted: Wanted): Promise<Spend> {
  const { price, limit, wallet, payTo, call } = wanted
  const { name: at, instance } = session.target
  const isAsked = policyOf(host.places, wallet.address) !== undefined || host.unlessSet !== undefined
  const { seller, subject } = isAsked ? await payeeOf(session, call) : paidFor(call)
  const payee: Recipient = { at, instance, seller, subject, payTo: payTo.toLowerCase() }
  return { price, limit, wallet, payee, call: `${call.method} ${call.path}` }
}

/** Counts a payment from the balance, before the key that authorises it is sent. */
export async function charge(host: SessionHost, session: Session, wanted: Wanted): Promise<Hold> {
  const { chargeSpend } = await import('../../client/spending/gate.ts')
  return chargeSpend(spenderOf(host), await spendOf(host, session, wanted)).catch(explained)
}

/** @throws CliError for a refusal of the spending gate; any other error unchanged */
export function explained(error: unknown): never {
  if (!(error instanceof SpendRefused)) throw error
  const { message, facts, next, rule } = error
  throw new CliError('payment', message, { facts, next, details: { rule }, cause: error })
}

type Held = { readonly hold: Hold; readonly call: RawCall }

/** Sends a payment and records its result. Without a response, the payment stays counted. */
export async function answeredUnder(host: SessionHost, session: Session, { hold, call }: Held): Promise<RawAnswer> {
  const isTrusted = session.target.name === LOCAL
  const note = (write: () => void) => {
    try {
      write()
    } catch (error) {
      // The purchase succeeded, so only warn. The payment is still counted.
      host.io.warn(`! the spending log was not updated: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const sent = host.budget.send(call.headers?.['idempotency-key'] ?? '')
  const refuse = () => {
    sent.refused()
    note(() => hold.refuse(isTrusted))
  }
  try {
    const answer = await session.send(call)
    if (answer.status === PAYMENT_REQUIRED) refuse()
    else {
      sent.answered(answer.body)
      note(hold.settle)
    }
    return answer
  } catch (error) {
    // After other errors it is certain that nothing was charged.
    if (error instanceof AppError && !['internal', 'request_timeout'].includes(error.code)) refuse()
    throw error
  }
}

/** Ids of items that can be bought, and of conversations. */
const SUBJECT = /^(svc|plan|prod|post|thr)_[0-9a-f]{16}$/
/** Endpoints at which a seller is paid. At all other endpoints, the marketplace is paid. */
const BUYS = /\/(purchase|subscribe|award|accept)$/
/** Paths that contain the name of a service. Only the instance knows who sells the service. */
const NAMED = /^\/v1\/services\/[a-z-]+$/

/** The seller and the item that a call to this path pays for; null where the path does not say. */
function paidFor({ method, path }: Pick<RawCall, 'method' | 'path'>): Pick<Recipient, 'seller' | 'subject'> {
  const nobody = { seller: null, subject: null }
  const parts = partsOf(path)
  const template = Object.values(endpoints).find(
    ([verb, at, opens]) => verb === method && opens.endsWith('paid') && isAt(parts, at.split('/')),
  )?.[1]
  if (template === undefined || NAMED.test(template)) return nobody
  if (!BUYS.test(template)) return { seller: MARKET, subject: null }
  const subject = parts[template.split('/').findIndex((part) => part.startsWith(':'))]
  return subject !== undefined && SUBJECT.test(subject) ? { seller: null, subject } : nobody
}

/** The decoded segments of a path; empty if the path is invalid. */
function partsOf(path: string): readonly string[] {
  try {
    const { pathname } = new URL(path, 'http://instance.invalid')
    return pathname.replace(/\/$/, '').split('/').map(decodeURIComponent)
  } catch {
    // Matches no endpoint.
    return []
  }
}

function isAt(parts: readonly string[], template: readonly string[]): boolean {
  return parts.length === template.length && template.every((part, at) => part.startsWith(':') || part === parts[at])
}

type Asking = Pick<Session, 'call'>

/** The payee of a call. The instance is asked who sells the item; `seller` is null if it does not say. */
export async function payeeOf(session: Asking, call: Wanted['call']): Promise<Pick<Recipient, 'seller' | 'subject'>> {
  const paid = paidFor(call)
  if (paid.subject === null) return paid
  try {
    return { ...paid, seller: await providerOf(session, paid.subject, call.body) }
  } catch (error) {
    // The seller is unknown, so no allow or deny list has its name.
    if (error instanceof Error) return paid
    throw error
  }
}

async function providerOf(session: Asking, id: string, body: unknown): Promise<string | null> {
  const asked = { params: { id } }
  if (id.startsWith('svc_')) return (await session.call('getService', asked)).provider_id
  if (id.startsWith('plan_')) return (await session.call('getPlan', asked)).provider_id
  if (id.startsWith('prod_')) return (await session.call('getProduct', asked)).provider_id
  if (id.startsWith('thr_')) return (await session.call('getThread', asked)).provider_id
  if (!id.startsWith('post_')) return null
  const bid = isObject(body) ? body.bid_id : undefined
  const { bids } = await session.call('listBids', asked)
  return bids.find((one) => one.bid_id === bid)?.provider_id ?? null
}
