import type { NotificationChange } from '../../../src/api/sections/posting-writes.ts'
import { invalidField } from '../../../src/core/error.ts'
import type { Draft, Tx } from '../../store/port.ts'
import { type OptInRow, optIns } from './rows.ts'

type Change = { readonly id: string; readonly body: NotificationChange; readonly now: number }

/** Sets what was given and opts in unless told otherwise; who opts in again starts without failures. */
export async function changeOptIn(t: Tx, { id, body, now }: Change): Promise<OptInRow> {
  const locked = (await t.table(optIns).getForUpdate(id)) ?? fresh(id, now)
  const enabled = body.enabled ?? true
  const changed = {
    ...locked,
    enabled,
    min_budget: body.min_budget_usd === undefined ? locked.min_budget : body.min_budget_usd,
    max_budget: body.max_budget_usd === undefined ? locked.max_budget : body.max_budget_usd,
    categories: body.categories === undefined ? locked.categories : [...new Set(body.categories)],
    consecutive_failures: enabled && !locked.enabled ? 0 : locked.consecutive_failures,
    updated_at: now,
  }
  const { min_budget: min, max_budget: max } = changed
  if (min !== null && max !== null && min > max)
    throw invalidField('min_budget_usd', 'must not be above max_budget_usd')
  return t.table(optIns).put(changed)
}

function fresh(id: string, now: number): Draft<OptInRow> {
  return {
    id,
    enabled: false,
    min_budget: null,
    max_budget: null,
    categories: [],
    consecutive_failures: 0,
    updated_at: now,
  }
}
