import { z } from 'zod'
import { Address, Amount, idOf, namedObject, Time, UsdNumber } from '../../core/codecs.ts'
import { SOLD_DAYS } from '../../core/limits.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { adminEndpoint, defineEndpoint, json, namedJson } from '../endpoint/define.ts'
import { payeeFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'

/** Stages of a sale's money. */
export const settlementStatuses = ['pending', 'processing', 'settled', 'blocked'] as const

/** Why earned money is not paid yet. A small amount is no reason: payouts have no minimum. */
export const waitingReasons = [
  'undelivered',
  'in_review',
  'disputed',
  'release_due',
  'escrow_paused',
  'scheduled',
  'payout_first',
  'on_its_way',
  'no_key',
  'paused',
  'settlement_paused',
  'suspended',
  'sanctioned',
  'unscreened',
] as const

/** Money that is unpaid for one reason. The sums of all reasons together equal held plus pending money. */
export const WaitingMoney = namedObject('WaitingMoney', {
  reason: z.enum(waitingReasons),
  amount_usd: UsdNumber,
  sales: z.int().meta({ description: 'number of jobs in escrow; 0 for released money, which is counted as one sum' }),
  until: Time.nullable().meta({
    description: 'time at which the first part is released automatically; null: someone must act',
  }),
})

/** A sale with its payout. */
const Settlement = namedObject('Settlement', {
  settlement_id: idOf('transaction'),
  id: idOf('transaction'),
  status: z.enum(settlementStatuses),
  tx_hash: z.string().nullable(),
  provider_amount_usd: UsdNumber,
  service_id: idOf('service').nullable(),
  job_id: idOf('job').nullable(),
  posting_id: idOf('posting').nullable(),
  created_at: Time,
})

export const earningsApi = {
  getEarnings: defineEndpoint({
    path: '/v1/provider/earnings',
    section: 'Balance, earnings, referrals',
    reply: namedJson('ProviderEarnings', {
      settled_usd: UsdNumber.meta({ description: 'paid to the wallet' }),
      held_usd: UsdNumber.meta({ description: 'net amount of sales in escrow' }),
      pending_usd: UsdNumber.meta({ description: 'earned, but not yet paid to the wallet' }),
      lifetime_usd: UsdNumber.meta({ description: 'settled and pending' }),
      next_settlement_at: Time.nullable().meta({
        description: 'next payment time, null if none; an extension, like `waiting`',
      }),
      waiting: z.array(WaitingMoney).meta({ description: 'earned money that is not paid yet, by reason' }),
      recent_settlements: z.array(Settlement).meta({ description: 'newest first' }),
      currency: z.literal('USDC'),
    }),
    summary: 'provider earnings summary',
  }),
}

/** A provider with its earnings: paid and due. */
const Payee = namedObject('Payee', {
  participant_id: idOf('participant'),
  name: z.string(),
  wallet: Address,
  sold: Amount.meta({ description: `revenue in the last ${SOLD_DAYS} business days, excluding full refunds` }),
  earned: Amount.meta({ description: 'total earned from released sales' }),
  paid: Amount.meta({ description: 'paid to the wallet' }),
  due: Amount.meta({ description: 'earned, but not yet paid to the wallet' }),
  held: Amount.meta({ description: 'the provider’s share of the money in escrow' }),
  waiting: z.array(WaitingMoney).meta({ description: 'held and due money, by reason' }),
  next_settlement_at: Time.nullable().meta({ description: 'null if nothing is paid automatically' }),
})

export const payeesApi = {
  listPayees: adminEndpoint({
    path: '/dashboard/api/admin/payees',
    query: z.strictObject({ ...listQuery(payeeFields), ...pageQuery }),
    reply: json({ payees: z.array(Payee), ...paged, ...searched }),
    summary: 'list providers with earnings, payouts, amounts due and held, and the next payment time',
  }),
}
