// Written by `npm run commands` from the command files; a test fails when it is stale.
import type { EntryRow } from '../../src/cli/run/entries.ts'

export const money: readonly EntryRow[] = [
  ['balance deposit', 'pay from the wallet into the balance', () => import('../balance/deposit.ts')],
  ['balance history', 'list what moved the balance, newest first', () => import('../balance/history.ts')],
  ['balance show', 'show the pre-funded balance', () => import('../balance/show.ts'), { isDefault: true }],
  ['balance withdraw', 'pay your balance out to your own wallet', () => import('../balance/withdraw.ts')],
  ['earnings', 'show what you earned by selling', () => import('../earnings.ts')],
  ['money audit', 'recompute the books of the marketplace and compare', () => import('../money/audit.ts')],
  ['money river', 'show the money of today: paid in, held in escrow, passed on', () => import('../money/river.ts')],
  ['referrals code', 'show the code by which you refer others', () => import('../referrals/code.ts')],
  ['referrals earnings', 'show what referrals earned you, sale by sale', () => import('../referrals/earnings.ts')],
  ['referrals list', 'list who you referred, and what they earned you', () => import('../referrals/list.ts')],
  ['referrals program', 'show rates and rules of the referral program', () => import('../referrals/program.ts')],
  ['referrals withdraw', 'move referral earnings to your balance or wallet', () => import('../referrals/withdraw.ts')],
]
