import { EarningRow } from '../../src/model/earning.ts'
import { AdminAnswerRow } from '../../src/model/payment.ts'
import { SanctionRow } from '../../src/model/sanction.ts'
import { defineCollection } from './port.ts'

/** What participants earned, by own sales and by who they referred. */
export const earnings = defineCollection('earnings', {
  schema: EarningRow,
  key: 'id',
  indexes: [
    { name: 'own', fields: ['owner_id', 'stream', 'seq'], order: 'desc' },
    { name: 'own_role', fields: ['owner_id', 'role', 'seq'], order: 'desc' },
    {
      name: 'own_referred',
      fields: ['owner_id', 'referred_id', 'seq'],
      order: 'desc',
      where: { field: 'stream', equals: 'referrals' },
    },
  ],
})

/** Wallets that may neither pay nor be paid. */
export const sanctions = defineCollection('sanctions', {
  schema: SanctionRow,
  key: 'wallet',
  indexes: [
    { name: 'wallet', fields: ['wallet'] },
    { name: 'manual', fields: ['since'], order: 'desc', where: { field: 'manual', equals: true } },
  ],
})

export const adminAnswers = defineCollection('admin_answers', {
  schema: AdminAnswerRow,
  key: 'id',
  indexes: [{ name: 'at', fields: ['at'] }],
})
