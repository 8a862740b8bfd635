import { type Usdc, usdc } from '../../../src/core/money.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { OptInRow, PostingRow } from './rows.ts'

/** Unverified providers bid on and hear of budgets up to this (decisions §9). */
export const UNVERIFIED_MAX_BUDGET = usdc(25_000_000n)

/** Whether a provider of this tier may deal with an amount: the upper end of a budget, or a bid. */
export function isWithinTier(tier: ParticipantRow['verification_tier'], amount: Usdc): boolean {
  return tier !== 'unverified' || amount <= UNVERIFIED_MAX_BUDGET
}

type Wish = Pick<OptInRow, 'enabled' | 'min_budget' | 'max_budget' | 'categories'>

/** Whether a posting is one that somebody asked to hear of: by the upper end of its budget, and its category. */
export function isWished(wish: Wish, { budget_max, category }: Pick<PostingRow, 'budget_max' | 'category'>): boolean {
  if (!wish.enabled) return false
  if (wish.min_budget !== null && budget_max < wish.min_budget) return false
  if (wish.max_budget !== null && budget_max > wish.max_budget) return false
  return wish.categories.length === 0 || wish.categories.includes(category)
}
