import type { z } from 'zod'
import { api, endpointNames } from '../../../src/api/index.ts'
import { referralsApi } from '../../../src/api/sections/referrals.ts'
import { AppError } from '../../../src/core/error.ts'
import { formatAmount, type Usdc, usdc, ZERO } from '../../../src/core/money.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { once } from '../../endpoint/once.ts'
import { emit } from '../../events/event-log.ts'
import type { Context } from '../../kernel/context.ts'
import { transition } from '../../kernel/machine.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { offsetPage } from '../../store/each-page.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { account, legsOf, REFERRAL_AGENT_BPS, REFERRAL_PROVIDER_BPS } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { type EarningRow, earnings } from '../ledger/rows.ts'
import { balanceFacts } from '../payments/balance.ts'
import { openWithdrawal, refusePaused } from '../payouts/withdrawals.ts'
import { refuseSanctioned } from '../sanctions/sanctions.ts'
import { referralMachine, referralState } from './machine.ts'
import { type ReferralMoney, referralMoney, referralView } from './referrals.ts'

/** Minimum referral money for a withdrawal (decisions §11). */
export const MIN_WITHDRAWAL = usdc(1_000_000n)
const CODE_FORMAT = 'ref_<participant id>'
const BPS_PER_PCT = 100

const referralCode = (participantId: string) => `ref_${participantId}`

/** Description of the referral program. `/health` shows a part of it. */
export const program: z.output<typeof referralsApi.getReferralProgram.reply.schema> = {
  enabled: true,
  description: 'Refer an agent or a provider to earn a share of the platform fees on its sales.',
  currency: 'USDC',
  rates: {
    agent_pct: Number(REFERRAL_AGENT_BPS) / BPS_PER_PCT,
    provider_pct: Number(REFERRAL_PROVIDER_BPS) / BPS_PER_PCT,
  },
  minimum_withdrawal: MIN_WITHDRAWAL,
  rules: [
    'The share is a part of each sale’s listing fee, rounded down to micro-USDC.',
    'If both buyer and provider of a sale were referred, both shares apply.',
    'You earn for as long as the referred participant trades.',
    'Earnings become payable with the next hourly run of referral-rewards.',
    `Payable earnings of at least $${formatAmount(MIN_WITHDRAWAL)} can be withdrawn to the balance.`,
  ],
  participation: {
    how_to_refer: `New participants register with your code (${CODE_FORMAT}) as referral_code.`,
    code_format: CODE_FORMAT,
    endpoints: [...new Set(endpointNames.map((name) => api[name].path).filter((path) => path.includes('/referrals')))],
  },
}

export const referralRoutes: FreeHandlers<typeof referralsApi> = {
  getReferralProgram: async () => program,

  getReferralCode: async (_input, { caller }) => ({
    referral_code: referralCode(caller.id),
    participant_id: caller.id,
    how_to_refer: program.participation.how_to_refer,
  }),

  listReferrals: async ({ query }, { ctx, caller }) => {
    const { money, ...found } = await ctx.store.read(async (t) => {
      const slice = { ...query, index: 'referrer', prefix: [caller.id] }
      const { rows, ...page } = await offsetPage(t.table(participants), slice)
      const referrals = await Promise.all(rows.map((row) => referralView(t, caller.id, row)))
      return { referrals, ...page, money: await referralMoney(t, caller) }
    })
    const balance = { ...shown(money), minimum_withdrawal: MIN_WITHDRAWAL, currency: 'USDC' as const }
    return { referral_code: referralCode(caller.id), ...found, balance }
  },

  getReferralEarnings: async ({ query }, { ctx, caller }) => {
    const slice = { ...query, index: 'own', prefix: [caller.id, 'referrals'] }
    const { money, rows, ...page } = await ctx.store.read(async (t) => ({
      money: await referralMoney(t, caller),
      ...(await offsetPage(t.table(earnings), slice)),
    }))
    const { agent, provider } = money
    return { ...shown(money), currency: 'USDC', breakdown: { agent, provider }, history: rows.map(rewardView), ...page }
  },

  /** Withdraws all payable referral money to balance or wallet, if it is at least the minimum (decisions §5, §11). */
  withdrawReferrals: async ({ body }, call) => {
    const { ctx, caller, retry, now } = call
    await refuseSanctioned(ctx, caller.wallet)
    const { schema } = referralsApi.withdrawReferrals.reply
    const act = acts[body.to ?? 'balance']
    return commit(ctx, (t, draw) =>
      once(t, { retry, schema, now }, async () => {
        await refusePaused(t)
        return act(t, draw, { ctx, caller, now })
      }),
    )
  },
}

function shown({ agent: _, provider: __, ...money }: ReferralMoney) {
  return money
}

function rewardView(row: EarningRow) {
  return {
    id: row.transaction_id,
    role: row.role === 'provider' ? ('provider' as const) : ('agent' as const),
    amount: row.amount,
    referred_id: row.referred_id,
    reference: { kind: row.ref_kind, id: row.ref_id },
    created_at: row.at,
  }
}

type ReferralQuery = { readonly ctx: Context; readonly caller: ParticipantRow; readonly now: number }

const acts = { balance: toBalance, wallet: toWallet } as const

async function toBalance(t: Tx, draw: Draw, { caller, now }: ReferralQuery) {
  const amount = withdrawable(await referralMoney(t, caller), 'withdraw', caller)
  const legs = legsOf.referralWithdrawal({ participantId: caller.id, amount })
  const subject = { kind: 'participant', id: caller.id }
  const transactionId = await post(t, draw, { kind: 'referral_withdrawal', ref: subject, legs, at: now })
  const data = { amount: formatAmount(amount), to: 'balance', transaction_id: transactionId }
  await emit(t, draw, { type: 'referral.withdrawn', participantId: caller.id, subject, data, at: now })
  const { total } = await balanceFacts(t, caller)
  return {
    withdrawn: amount,
    to: 'balance' as const,
    payout_id: null,
    balance: total,
    transaction_id: transactionId as string, // the minimum is not 0, so something moved
    currency: 'USDC' as const,
  }
}

async function toWallet(t: Tx, draw: Draw, { ctx, caller, now }: ReferralQuery) {
  const amount = withdrawable(await referralMoney(t, caller), 'pay_out', caller)
  const source = account.referral(caller.id)
  const { payout, transactionId } = await openWithdrawal(t, draw, {
    participant: caller,
    kind: 'referral',
    source,
    amount,
    now,
    ctx,
  })
  const { total } = await balanceFacts(t, caller)
  return {
    withdrawn: amount,
    to: 'wallet' as const,
    payout_id: payout.id,
    balance: total,
    transaction_id: transactionId,
    currency: 'USDC' as const,
  }
}

/** @throws AppError 409 that says how much is missing, or why nothing is payable */
function withdrawable(money: ReferralMoney, event: 'withdraw' | 'pay_out', { id }: Pick<ParticipantRow, 'id'>): Usdc {
  const { payable, pending, blocked } = money
  const missing = payable < MIN_WITHDRAWAL ? usdc(MIN_WITHDRAWAL - payable) : ZERO
  const facts = {
    minimum: formatAmount(MIN_WITHDRAWAL),
    payable: formatAmount(payable),
    pending: formatAmount(pending),
    blocked: formatAmount(blocked),
    missing: formatAmount(missing),
  }
  const from = referralState(money)
  if (from === 'none') throw neverEarned(id, facts)
  transition(referralMachine, { event, from, by: 'participant' }, facts)
  if (missing === ZERO) return payable
  const message = `$${facts.payable} is payable, $${facts.missing} less than the minimum of $${facts.minimum}.`
  throw new AppError('conflict', message, { extra: facts })
}

function neverEarned(id: string, facts: Readonly<Record<string, string>>): AppError {
  const message = `No referral earnings yet: you get a share of each sale by participants who register with ${referralCode(id)}.`
  return new AppError('conflict', message, { extra: facts })
}
