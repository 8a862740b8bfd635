import { randomBytes } from 'node:crypto'
import { formatPrice, type Usdc } from '../../core/money.ts'
import type { Places } from '../paths.ts'
import { type Chosen, MAX_WINDOW_SECONDS, type PayingAccount, type SignedPayment } from '../pay.ts'
import type { Budget } from './budget.ts'
import { markSpend, reserveSpend, spentBefore } from './ledger.ts'
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
import { SpendRefused } from './refused.ts'

const MS_PER_SECOND = 1_000
const NONCE_BYTES = 32

/** What the gate knows of whoever pays. */
export type Spender = {
  readonly places: Pick<Places, 'config'>
  /** What this command may still spend. */
  readonly budget: Budget
  /** Epoch milliseconds of the machine: business time that somebody moves changes no limit. */
  now(): number
  /** Asks the person; undefined where nobody can be asked. */
  approve(question: string): Promise<boolean | undefined>
  /** What holds for a wallet without a policy of its own. */
  readonly unlessSet?: SpendPolicy
}

export type Spend = {
  readonly price: Usdc
  /** Most that the command may spend in all, or that was shown. */
  readonly limit: Usdc
  readonly wallet: { readonly name: string; readonly address: string }
  readonly payee: Recipient
  /** Method and path. */
  readonly call: string
}

/** A payment that is counted. Whatever happens, it stays counted until one of these says otherwise. */
export type Hold = {
  /** Nothing has left this machine, and nothing will. */
  release(): void
  /** It was answered as paid. */
  settle(): void
  /**
   * It was refused. Only the word of the daemon of this machine gives anything back: a stranger who has a signature
   * can use it whatever they answered.
   */
  refuse(isTrusted: boolean): void
}

/**
 * The one gate of every payment: nothing is signed, and no key that pays goes out, but through `signSpend` and
 * `chargeSpend`. The command's budget, the lists and limits of the wallet's policy and the person above its threshold
 * come first; then the payment is counted durably, under a lock that all processes of this wallet share.
 * @throws SpendRefused with nothing signed and nothing counted.
 */
async function reserve(spender: Spender, spend: Spend & { readonly method: 'x402' | 'balance' }) {
  const { places, budget } = spender
  const { price, limit, wallet, payee, method, call } = spend
  budget.check(price, limit)
  const policy = policyFor(spender, wallet.address)
  if (policy !== undefined && needsAsking(policy, price)) {
    // Nobody is asked about what is refused anyway.
    const before = spentBefore(places, { wallet: wallet.address.toLowerCase(), now: spender.now() }, payee)
    judge(spend, policy, { ...before, command: budget.taken() })
    await agreed(spender, spend)
  }
  const at = spender.now()
  // No validity that is ever signed goes beyond it.
  const until = at + MAX_WINDOW_SECONDS * MS_PER_SECOND
  const entry = { wallet: wallet.address.toLowerCase(), at, amount: price, until, method, call, payee }
  // A person may have changed the policy meanwhile: what holds now is read again, in the same breath as it is counted.
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
    facts: [`rule: ${rule}`, `it was to go to ${nameOf(payee)}`, 'nothing was signed and nothing was paid'],
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
    said === false ? 'The person said no' : `${formatPrice(price)} needs approval, and there is no terminal to ask on`
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
    refuse(isTrusted) {
      // Elsewhere a balance is what its instance says it is; a signature is as good as the money to whoever has it.
      if (isTrusted || method === 'balance') budget.refuse(price)
      // What was signed lives until it runs out, whoever says that it was not used.
      if (isTrusted) markSpend(places, id, method === 'x402' ? 'reserved' : 'released')
    },
  }
}

/** Signs an offer that was chosen, once the gate has let it through. The headers are as good as the money. */
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

/** Counts a charge of the balance; the caller sends the key only afterwards. */
export async function chargeSpend(spender: Spender, spend: Spend): Promise<Hold> {
  const { id } = await reserve(spender, { ...spend, method: 'balance' })
  markSpend(spender.places, id, 'sent')
  return holdOf(spender, { id, method: 'balance', price: spend.price })
}
