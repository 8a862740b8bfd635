import type { Usdc } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { SaleCostKind } from '../../../src/model/payment.ts'
import type { Context } from '../../kernel/context.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { recentGas, type SaleCost, saleCosts } from '../payouts/gas-costs.ts'

/** Maximum active listings that are compared. */
const MAX_LISTINGS = 1_000
const MAX_BELOW = 25
const COST_MS = 30 * DAY_MS

type Costs = Readonly<Record<SaleCostKind, SaleCost>>

/** The break-even price of a listing whose price is lower; undefined otherwise, or if it is unknown. */
function shortOf({ price, first_party_slug: slug, fulfillment_type: how }: ServiceRow, costs: Costs): Usdc | undefined {
  const kind = how === 'instant' ? 'instant' : 'escrowed'
  const { breakEven } = costs[slug === null ? kind : 'first_party']
  return price !== null && breakEven !== null && price < breakEven ? breakEven : undefined
}

/** Active listings whose fee does not pay the gas of a sale. */
export async function listingsBelow({ store }: Pick<Context, 'store'>, costs: Costs) {
  const { rows } = await store.table(services).page('status', ['active'], { limit: MAX_LISTINGS })
  const below = rows.flatMap((row) => {
    const breakEven = shortOf(row, costs)
    if (breakEven === undefined || row.price === null) return []
    return [{ service_id: row.id, name: row.name, price: row.price, break_even: breakEven }]
  })
  return below.slice(0, MAX_BELOW)
}

/** The break-even price to tell about a new listing, as a member of the answer. */
export async function breakEvenNote(ctx: Context, row: ServiceRow): Promise<{ break_even?: Usdc }> {
  if (ctx.config.ethPrice === undefined) return {}
  const breakEven = shortOf(row, saleCosts(ctx, await recentGas(ctx, COST_MS)))
  return breakEven === undefined ? {} : { break_even: breakEven }
}
