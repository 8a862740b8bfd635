import { z } from 'zod'
import { Amount, idOf, namedObject, Time } from '../../core/codecs.ts'
import { participantTypes } from '../../model/words.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { accountEndpoint, endpointsWith, jsonBody, namedJson, open } from '../endpoint/define.ts'

const section = 'Balance, earnings, referrals'
const endpoint = endpointsWith({ section })
const USDC = z.literal('USDC')
export const withdrawalTargets = ['balance', 'wallet'] as const

/** Referral money by state; the sum is `lifetime`. */
const money = {
  pending: Amount.meta({ description: 'earned; payable with the next run of referral-rewards' }),
  payable: Amount.meta({ description: 'can be withdrawn' }),
  blocked: Amount.meta({ description: 'withheld while the wallet is sanctioned' }),
  withdrawn: Amount,
  lifetime: Amount,
}

export const Referral = namedObject('Referral', {
  participant_id: idOf('participant'),
  name: z.string(),
  type: z.enum(participantTypes),
  earned: Amount.meta({ description: 'earned from this participant so far' }),
  registered_at: Time,
})

export const referralsApi = {
  getReferralProgram: endpoint({
    path: '/v1/referrals/program',
    access: open,
    reply: namedJson('ReferralProgram', {
      enabled: z.boolean(),
      description: z.string(),
      currency: USDC,
      rates: z.strictObject({
        agent_pct: z.number().meta({ description: 'share of the fee when a referred agent buys' }),
        provider_pct: z.number().meta({ description: 'share of the fee when a referred provider sells' }),
      }),
      minimum_withdrawal: Amount,
      rules: z.array(z.string()),
      participation: z.strictObject({
        how_to_refer: z.string(),
        code_format: z.string(),
        endpoints: z.array(z.string()),
      }),
    }),
    summary: 'rates, rules, participation',
  }),

  getReferralCode: endpoint({
    path: '/v1/referrals/code',
    reply: namedJson('ReferralCode', {
      referral_code: z.string(),
      participant_id: idOf('participant'),
      how_to_refer: z.string(),
    }),
    summary: 'own referral code',
  }),

  listReferrals: endpoint({
    path: '/v1/referrals',
    query: z.strictObject(pageQuery),
    reply: namedJson('Referrals', {
      referral_code: z.string(),
      referrals: z.array(Referral),
      ...paged,
      balance: z.strictObject({ ...money, minimum_withdrawal: Amount, currency: USDC }),
    }),
    summary: 'own referrals and balance',
  }),

  getReferralEarnings: endpoint({
    path: '/v1/referrals/earnings',
    query: z.strictObject(pageQuery),
    reply: namedJson('ReferralEarnings', {
      ...money,
      currency: USDC,
      breakdown: z.strictObject({
        agent: Amount.meta({ description: 'from purchases by referred agents' }),
        provider: Amount.meta({ description: 'from sales by referred providers' }),
      }),
      history: z.array(
        z.strictObject({
          id: idOf('transaction'),
          role: z.enum(['agent', 'provider']),
          amount: Amount,
          referred_id: idOf('participant').nullable(),
          reference: z.strictObject({ kind: z.string(), id: z.string() }),
          created_at: Time,
        }),
      ),
      ...paged,
    }),
    summary: 'earnings breakdown and history',
  }),

  withdrawReferrals: accountEndpoint({
    path: '/v1/referrals/withdraw',
    feature: 'prepaid_balance',
    spares: { to: 'wallet' },
    replacement: 'POST /v1/referrals/withdraw',
    body: jsonBody({
      to: z
        .enum(withdrawalTargets)
        .optional()
        .meta({ description: 'destination (default: balance); wallet also works during the checkout cutover' }),
    }),
    reply: namedJson('ReferralWithdrawal', {
      withdrawn: Amount,
      to: z.enum(withdrawalTargets),
      payout_id: idOf('payout').nullable().meta({ description: 'payout id; null if moved to the balance' }),
      balance: Amount,
      transaction_id: idOf('transaction'),
      currency: USDC,
    }),
    errors: ['sanctioned', 'conflict', 'invalid_transition', 'idempotency_mismatch', 'paused'],
    summary: 'move referral earnings to the balance',
  }),
}
