import type { z } from 'zod'
import {
  type BalanceEntry,
  type Balance as BalanceSchema,
  balanceApi,
  MAX_DEPOSIT,
  MAX_WALLETS_NAMED,
  MIN_BALANCE_WITHDRAWAL,
  MIN_DEPOSIT,
} from '../../../src/api/sections/balance.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import { isAddress, toWallet, type Wallet } from '../../../src/core/hex.ts'
import { formatAmount, type Usdc, usdc } from '../../../src/core/money.ts'
import { once } from '../../endpoint/once.ts'
import { emit } from '../../events/event-log.ts'
import type { Context } from '../../kernel/context.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { offsetPage } from '../../store/each-page.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { balanceOf } from '../ledger/post.ts'
import { type HistoryRow, history } from '../ledger/rows.ts'
import { costsGas, openWithdrawal, refusePaused, SMALLEST_ON_CHAIN } from '../payouts/withdrawals.ts'
import { refuseSanctioned } from '../sanctions/sanctions.ts'
import { MAX_OPEN_PAYMENTS } from './reserve.ts'
import { payments } from './rows.ts'
import type { Handlers, Payer } from './seller.ts'

export type Balance = { readonly available: Usdc; readonly held: Usdc; readonly total: Usdc }

export async function balanceFacts(t: ReadTx, participant: Pick<ParticipantRow, 'id' | 'wallet'>): Promise<Balance> {
  const available = await balanceOf(t, account.balance(participant.id))
  const { rows } = await t.table(payments).page('open_payer', [participant.wallet], { limit: MAX_OPEN_PAYMENTS })
  const held = rows.filter((row) => row.method === 'balance').reduce((sum, row) => sum + row.price, 0n)
  return { available, held: usdc(held), total: usdc(available + held) }
}

export async function balanceView(
  t: ReadTx,
  participant: Pick<ParticipantRow, 'id' | 'wallet'>,
): Promise<z.output<typeof BalanceSchema>> {
  const { available, held, total } = await balanceFacts(t, participant)
  return { balance: total, available, held, currency: 'USDC', participant_id: participant.id }
}

export function entryView(row: HistoryRow): z.output<typeof BalanceEntry> {
  return {
    id: row.transaction_id,
    type: row.type,
    amount: row.amount,
    balance_after: row.balance_after,
    reference: { kind: row.ref_kind, id: row.ref_id },
    created_at: row.at,
  }
}

export const balanceRoutes: Handlers<typeof balanceApi> = {
  getBalance: async (_input, { ctx, caller }) => ctx.store.read((t) => balanceView(t, caller)),

  /** On-chain balances, which are public. */
  getHoldings: async ({ query }, { ctx: { chain } }) => {
    const named = walletsIn(query.of)
    try {
      const wallets = await Promise.all(named.map(async (wallet) => ({ wallet, usdc: await chain.balanceOf(wallet) })))
      return { network: chain.network, asset: chain.asset.address, wallets }
    } catch (error) {
      const message = 'The chain does not answer: wallet balances cannot be read.'
      throw new AppError('unavailable', message, { retryAfter: CHAIN_RETRY_SECONDS, cause: error })
    }
  },

  getBalanceHistory: async ({ query }, { ctx, caller }) => {
    const slice = { ...query, index: 'participant', prefix: [caller.id] }
    const { rows, ...page } = await ctx.store.read((t) => offsetPage(t.table(history), slice))
    return { entries: rows.map(entryView), ...page }
  },

  /** Credits a deposit to the paying wallet's participant (decisions §4). */
  deposit: {
    async quote({ query, body }) {
      const amount = asked(query.amount, body?.amount)
      const description = 'deposit into the balance'
      return amount === undefined
        ? { price: MIN_DEPOSIT, upTo: MAX_DEPOSIT, settle: 'first', description }
        : { price: amount, settle: 'first', description }
    },

    async check(_input, { payer }) {
      registered(payer)
    },

    async fulfil(t, draw, { payer, payment, now }) {
      const participant = registered(payer)
      const { total } = await balanceFacts(t, participant)
      const transactionId = draw.id('transaction')
      const subject = { kind: 'participant', id: participant.id }
      await emit(t, draw, {
        type: 'balance.deposited',
        participantId: participant.id,
        subject,
        data: { amount: formatAmount(payment.price), transaction_id: transactionId },
        at: now,
      })
      return {
        kind: 'deposit',
        ref: { kind: 'receipt', id: payment.receipt_id },
        transactionId,
        legs: legsOf.deposit({ participantId: participant.id, amount: payment.price }),
        answer: { balance: usdc(total + payment.price), credited: payment.price, transaction_id: transactionId },
      }
    },
  },

  /** Opens a payout from the balance to the participant's wallet (decisions §4, §5). */
  withdrawBalance: async ({ body }, base) => {
    const { ctx, caller, retry, now } = base
    if (body.amount <= 0n) throw invalidField('amount', 'must be more than 0')
    await refuseSanctioned(ctx, caller.wallet)
    const { schema } = balanceApi.withdrawBalance.reply
    return commit(ctx, (t, draw) =>
      once(t, { retry, schema, now }, () => takeOut(t, draw, { ctx, participant: caller, amount: body.amount, now })),
    )
  },
}

const CHAIN_RETRY_SECONDS = 15

/** @throws AppError invalid_request */
function walletsIn(text: string): Wallet[] {
  const words = [...new Set(text.split(','))]
  if (words.length > MAX_WALLETS_NAMED) throw invalidField('of', `must list at most ${MAX_WALLETS_NAMED} wallets`)
  const wrong = words.find((word) => !isAddress(word))
  if (wrong !== undefined) throw invalidField('of', `"${wrong.slice(0, 50)}" is not a wallet address`)
  return words.map(toWallet)
}

function registered({ participant }: Payer): ParticipantRow {
  if (participant) return participant
  throw new AppError('registration_required', 'Only a registered wallet has a balance: POST /v1/register first.')
}

function asked(inQuery: Usdc | undefined, inBody: Usdc | undefined): Usdc | undefined {
  if (inQuery !== undefined && inBody !== undefined && inQuery !== inBody) {
    throw invalidField('amount', 'differs between body and query: send one')
  }
  const amount = inBody ?? inQuery
  if (amount !== undefined && (amount < MIN_DEPOSIT || amount > MAX_DEPOSIT)) {
    throw invalidField('amount', `must be from ${formatAmount(MIN_DEPOSIT)} to ${formatAmount(MAX_DEPOSIT)}`)
  }
  return amount
}

type Taken = {
  readonly ctx: Context
  readonly participant: ParticipantRow
  readonly amount: Usdc
  readonly now: number
}

async function takeOut(t: Tx, draw: Draw, { ctx, participant, amount, now }: Taken) {
  await refusePaused(t)
  const { available, total } = await balanceFacts(t, participant)
  if (amount > available) throw tooMuch(amount, available)
  const smallest = costsGas(ctx) ? SMALLEST_ON_CHAIN : MIN_BALANCE_WITHDRAWAL
  if (amount < smallest && amount < available) {
    throw invalidField('amount', `must be at least ${formatAmount(smallest)}, or the full available balance`)
  }
  const source = account.balance(participant.id)
  const { payout, transactionId } = await openWithdrawal(t, draw, {
    participant,
    kind: 'withdrawal',
    source,
    amount,
    empties: amount < smallest,
    now,
    ctx,
  })
  return {
    payout_id: payout.id,
    withdrawn: amount,
    balance: usdc(total - amount),
    available: usdc(available - amount),
    wallet: participant.wallet,
    status: payout.status,
    transaction_id: transactionId,
    currency: 'USDC' as const,
  }
}

function tooMuch(amount: Usdc, available: Usdc): AppError {
  const extra = { requested: formatAmount(amount), available: formatAmount(available) }
  const message = `The available balance is $${extra.available}; this needs $${extra.requested}.`
  return new AppError('conflict', message, { extra })
}
