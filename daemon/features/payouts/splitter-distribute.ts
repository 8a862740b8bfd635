import { type Usdc, ZERO } from '../../../src/core/money.ts'
import type { Payee } from '../../../src/model/words.ts'
import type { Context } from '../../kernel/context.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { type AccountItem, accountCron, accountWork } from '../ledger/account-work.ts'
import { account, legsOf, share } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { openPayout, openPayoutOf, runPayouts } from './payouts.ts'

type PayeeShare = { readonly to: Payee['to']; readonly amount: Usdc }

const WHOLE_BPS = 10_000n

export const operatorOnly: readonly Payee[] = [{ to: 'operator', bps: WHOLE_BPS }]

/** Payees' shares, rounded down. The remainder stays in the account. */
export function sharesOf(amount: Usdc, payees: readonly Payee[]): PayeeShare[] {
  return payees.map(({ to, bps }) => ({ to, amount: share(amount, bps) })).filter((one) => one.amount > ZERO)
}

export function payeeFault(payees: readonly Payee[]): string | undefined {
  if (new Set(payees.map(({ to }) => to)).size < payees.length) return 'duplicate payee'
  if (payees.some(({ bps }) => bps <= 0n)) return 'a share must be more than 0'
  const sum = payees.reduce((total, { bps }) => total + bps, 0n)
  return sum === WHOLE_BPS ? undefined : `the shares sum to ${Number(sum) / 100} %, not 100 %`
}

const sources = ['fees', 'ops'] as const

/** Distributes both revenue accounts. Payees are paid to their wallets, the operator in the books (decisions §5). */
export const splitterDistribute = accountCron({
  name: 'splitter-distribute',
  // One round for each kind of account, because a wallet has only one payout at a time.
  rounds: sources.map((kind) => [
    accountWork({ name: `splitter.${kind}`, kind, isDue: canDistribute, act: distribute }),
  ]),
  after: runPayouts,
})

function payeesOf({ config }: Context): readonly Payee[] {
  return config.payees ?? operatorOnly
}

/**
 * Whether all shares can be set aside together. This requires that no payee's wallet has an open payout, and that no
 * share is below one atomic unit. Otherwise remainders would drift to the largest payee.
 */
async function canDistribute(t: ReadTx, { account: row }: AccountItem, ctx: Context): Promise<boolean> {
  const payees = payeesOf(ctx)
  for (const { to } of payees) if (to !== 'operator' && (await openPayoutOf(t, to))) return false
  return sharesOf(row.balance, payees).length === payees.length
}

async function distribute(t: Tx, draw: Draw, item: AccountItem & { readonly ctx: Context }): Promise<void> {
  const from = item.account.kind === 'ops' ? 'ops' : 'fees'
  for (const { to, amount } of sharesOf(item.account.balance, payeesOf(item.ctx))) {
    const ref = { kind: 'splitter', id: from }
    if (to === 'operator') {
      const legs = legsOf.splitter({ from, to: account.oper, amount })
      await post(t, draw, { kind: 'splitter', ref, legs, at: item.at })
    } else {
      await openPayout(t, draw, { kind: 'splitter', wallet: to, source: account[from], amount, ref, at: item.at })
    }
  }
}
