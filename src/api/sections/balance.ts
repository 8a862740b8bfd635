import { z } from 'zod'
import { Address, Amount, idOf, namedObject, Time } from '../../core/codecs.ts'
import { usdc } from '../../core/money.ts'
import { historyTypes } from '../../model/ledger.ts'
import { payoutStates } from '../../model/words.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { endpointsWith, json, jsonBody, open, paid } from '../endpoint/define.ts'

const section = 'Balance, earnings, referrals'
const endpoint = endpointsWith({ section })

/** Limits of a deposit (decisions §4). */
export const MIN_DEPOSIT = usdc(10_000n)
export const MAX_DEPOSIT = usdc(10_000_000_000n)
/** Minimum withdrawal, because transfers cost gas. A withdrawal of the whole balance may be smaller. */
export const MIN_BALANCE_WITHDRAWAL = usdc(10_000n)

export const Balance = namedObject('Balance', {
  balance: Amount.meta({ description: 'available plus held amount' }),
  available: Amount,
  held: Amount.meta({ description: 'reserved for open requests' }),
  currency: z.literal('USDC'),
  participant_id: idOf('participant'),
})

export const BalanceEntry = namedObject('BalanceEntry', {
  id: idOf('transaction'),
  type: z.enum(historyTypes),
  amount: Amount.meta({ description: 'signed' }),
  balance_after: Amount.meta({ description: 'available amount after this entry' }),
  reference: z.strictObject({ kind: z.string(), id: z.string() }),
  created_at: Time,
})

const depositFields = z.strictObject({
  amount: Amount.optional().meta({ description: '0.01 to 10,000; if omitted, the authorised amount is credited' }),
})

/** A withdrawal that was started. Its payout shows the progress. */
export const BalanceWithdrawal = namedObject('BalanceWithdrawal', {
  payout_id: idOf('payout'),
  withdrawn: Amount,
  balance: Amount.meta({ description: 'available plus held amount afterwards' }),
  available: Amount,
  wallet: Address.meta({ description: 'the caller’s own wallet; no other is allowed' }),
  status: z.enum(payoutStates),
  transaction_id: idOf('transaction'),
  currency: z.literal('USDC'),
})

/** Maximum number of comma-separated wallets in a query. */
export const MAX_WALLETS_NAMED = 50
const WALLET_CHARS = 43

export const balanceApi = {
  getHoldings: endpoint({
    path: '/v1/wallets',
    access: open,
    origin: 'ours',
    section: 'Balance',
    query: z.strictObject({
      of: z
        .string()
        .max(MAX_WALLETS_NAMED * WALLET_CHARS)
        .meta({ description: `wallet addresses, comma-separated, at most ${MAX_WALLETS_NAMED}` }),
    }),
    reply: json({
      network: z.string(),
      asset: Address,
      wallets: z.array(z.strictObject({ wallet: Address, usdc: Amount })),
    }),
    errors: ['unavailable'],
    summary: 'list wallet balances on the chain of this marketplace',
  }),

  getBalance: endpoint({ path: '/v1/balance', reply: json(Balance), summary: 'pre-funded balance' }),

  getBalanceHistory: endpoint({
    path: '/v1/balance/history',
    query: z.strictObject(pageQuery),
    reply: json({ entries: z.array(BalanceEntry), ...paged }),
    summary: 'balance transactions',
  }),

  deposit: endpoint({
    path: '/v1/balance/deposit',
    access: paid('varies', { x402Only: true }),
    feature: 'prepaid_balance',
    pricedByBody: true,
    query: depositFields,
    body: jsonBody(depositFields),
    reply: json({ balance: Amount, credited: Amount, transaction_id: idOf('transaction') }),
    errors: ['registration_required'],
    summary: 'pre-fund the balance',
  }),

  withdrawBalance: endpoint({
    path: '/v1/balance/withdraw',
    origin: 'ours',
    section: 'Balance',
    body: jsonBody({ amount: Amount.meta({ description: 'from 0.01, or the full available balance if less' }) }),
    reply: json(BalanceWithdrawal),
    errors: ['sanctioned', 'conflict', 'idempotency_mismatch', 'paused'],
    summary: 'withdraw own balance to own wallet',
  }),
}
