import { randomBytes } from 'node:crypto'
import { formatPrice, type Usdc } from '../../core/money.ts'
import { type Chosen, MAX_WINDOW_SECONDS, type PayingAccount, type SignedPayment } from '../pay.ts'
import type { Places } from '../settings.ts'
import type { Budget } from './budget.ts'
import { keepProof, markSpend, reserveSpend, spentBefore } from './ledger.ts'
import {
  type Broken,
  brokenRule,
  flagOf,
  nameOf,
  needsAsking,
  policyOf,
  type Recipient,
  type SpendPolicy,
} from './policy.ts'
import type { Proof } from './proofs.ts'
import { SpendRefused } from './refused.ts'

const MS_PER_SECOND = 1_000
const NONCE_BYTES = 32

/** A payer, and what the spending gate needs to know about it. */
export type Spender = {
  readonly places: Pick<Places, 'config'>
  readonly budget: Budget
  /** Machine time: business time must not affect limits. */
  now(): number
  /** Asks the user for approval; undefined if there is no terminal. */
  approve(question: string): Promise<boolean | undefined>
  /** Policy for a wallet that has none. */
  readonly unlessSet?: SpendPolicy
}

export type Spend = {
  readonly price: Usdc
  /** Spending limit of the command, or the price that the user has seen. */
  readonly limit: Usdc
  readonly wallet: { readonly name: string; readonly address: string }
  readonly payee: Recipient
  /** Method and path. */
  readonly call: string
}

/** A payment that counts against the limits. Its methods record what became of it. */
export type Hold = {
  /** The payment no longer counts, since nothing was sent. */
  release(): void
  settle(): void
  /** Keeps what the seller signed. */
  keep(proof: Proof): void
  /**
   * Records a refusal. If the local daemon refused, a balance charge no longer counts, and a signature counts until it
   * expires. If another instance refused, the payment still counts, since it could still be charged.
   */
  refuse(isTrusted: boolean): void
}

/**
 * The only gate for payments: every signature, and every key that pays, goes through `signSpend` or `chargeSpend`.
 * Checks budget, policy and approval. Then counts the payment on disk, under a lock that all processes share.
 * @throws SpendRefused if it is not allowed; then nothing was signed or counted
 */
async function reserve(spender: Spender, spend: Spend & { readonly method: 'x402' | 'balance' }) {
  const { places, budget } = spender
  const { price, limit, wallet, payee, method, call } = spend
  budget.check(price, limit)
  const policy = policyFor(spender, wallet.address)
  if (policy !== undefined && needsAsking(policy, price)) {
    // Check the policy before asking, so that the user is not asked about a payment that would be refused.
    const before = spentBefore(places, { wallet: wallet.address.toLowerCase(), now: spender.now() }, payee)
    judge(spend, policy, { ...before, command: budget.taken() })
    await agreed(spender, spend)
  }
  const at = spender.now()
  const until = at + MAX_WINDOW_SECONDS * MS_PER_SECOND
  const entry = { wallet: wallet.address.toLowerCase(), at, amount: price, until, method, call, payee }
  // The policy may have changed while the user was asked, so check it again, in the transaction that counts the
  // payment.
  const id = reserveSpend(places, entry, (before) => {
    budget.check(price, limit)
    const now = policyFor(spender, wallet.address)
    if (now !== undefined) judge(spend, now, { ...before, command: budget.taken() })
  })
  budget.take(price, limit)
  return { id, nowSeconds: Math.floor(at / MS_PER_SECOND) }
}

function policyFor({ places, unlessSet }: Spender, wallet: string): SpendPolicy | undefined {
  return policyOf(places, wallet) ?? unlessSet
}

function judge(spend: Spend, policy: SpendPolicy, totals: Parameters<typeof brokenRule>[2]): void {
  const broken = brokenRule(policy, spend, totals)
  if (broken !== undefined) throw refusedBy(spend, broken)
}

function refusedBy({ wallet, payee }: Spend, { rule, message, change }: Broken): SpendRefused {
  return new SpendRefused(rule, `The spend policy of wallet ${wallet.name} forbids this: ${message}.`, {
    facts: [`rule: ${rule}`, `payee: ${nameOf(payee)}`, 'nothing was signed and nothing was paid'],
    next: [['souk wallet policy set', wallet.name, ...change].join(' '), `souk wallet policy show ${wallet.name}`],
  })
}

async function agreed(spender: Spender, { price, payee, wallet }: Spend): Promise<void> {
  const what = `${formatPrice(price)} to ${nameOf(payee)} from wallet ${wallet.name}`
  const said = await spender.approve(`Pay ${what}?`)
  if (said === true) return
  const next = [
    `souk wallet policy set ${wallet.name} ${flagOf('ask_above')} ${formatPrice(price).slice(1)}`,
    `souk wallet policy show ${wallet.name}`,
  ]
  const why =
    said === false ? 'Not approved' : `${formatPrice(price)} needs approval, and there is no terminal to ask on`
  throw new SpendRefused('ask_above', `${why}.`, {
    facts: ['rule: ask_above', 'nothing was signed and nothing was paid'],
    next: said === false ? [] : next,
  })
}

type Counted = { readonly id: number; readonly method: 'x402' | 'balance'; readonly price: Usdc }

function holdOf({ places, budget }: Spender, { id, method, price }: Counted): Hold {
  return {
    release: () => markSpend(places, id, 'released'),
    settle: () => markSpend(places, id, 'settled'),
    keep: (proof) => keepProof(places, id, JSON.stringify(proof)),
    refuse(isTrusted) {
      // A refused charge to the balance cannot happen later; a refused signature can still be used.
      if (isTrusted || method === 'balance') budget.refuse(price)
      // A signature stays usable until it expires, whatever the instance says.
      if (isTrusted) markSpend(places, id, method === 'x402' ? 'reserved' : 'released')
    },
  }
}

/** Counts a payment and signs its offer. The signed headers are as good as money. */
export async function signSpend(
  spender: Spender,
  spend: Spend,
  { chosen, account }: { readonly chosen: Chosen; readonly account: PayingAccount },
): Promise<{ readonly signed: SignedPayment; readonly hold: Hold }> {
  const { id, nowSeconds } = await reserve(spender, { ...spend, method: 'x402' })
  const hold = holdOf(spender, { id, method: 'x402', price: spend.price })
  const nonce = `0x${randomBytes(NONCE_BYTES).toString('hex')}` as const
  const signed = await chosen.sign({ account, nonce, nowSeconds }).catch((error: unknown) => {
    hold.release()
    throw error
  })
  markSpend(spender.places, id, 'sent')
  return { signed, hold }
}

/** Counts a payment from the balance, before the key that authorises it is sent. */
export async function chargeSpend(spender: Spender, spend: Spend): Promise<Hold> {
  const { id } = await reserve(spender, { ...spend, method: 'balance' })
  markSpend(spender.places, id, 'sent')
  return holdOf(spender, { id, method: 'balance', price: spend.price })
}
