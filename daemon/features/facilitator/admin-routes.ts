import { templatePath } from '../../../src/api/endpoint/define.ts'
import { api } from '../../../src/api/index.ts'
import { FacilitatedSettlement, type facilitatorAdminApi } from '../../../src/api/sections/facilitator.ts'
import { isLoopback } from '../../../src/core/loopback.ts'
import { pick } from '../../../src/core/record.ts'
import { dayOf, SECOND_MS } from '../../../src/core/time.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import { wrongTokens } from '../../kernel/wrong-tokens.ts'
import { isTestMoney } from '../../ports/chain/chain.ts'
import { offsetPage } from '../../store/each-page.ts'
import { rulesOf } from './policy.ts'
import { facilitatorDays, type SettlementRow, settlements } from './rows.ts'

/** Maximum API keys listed per day. */
const MAX_DAY_ROWS = 1_000
/** Latest date that JavaScript can represent, in epoch seconds. */
const MAX_DATE_SECONDS = 8_640_000_000_000n

const list: FreeHandler<typeof facilitatorAdminApi.listFacilitatedSettlements> = async ({ query }, { ctx, wall }) => {
  const { state, ...asked } = query
  const slice = state === undefined ? { index: 'newest', prefix: [] } : { index: 'state', prefix: [state] }
  return ctx.store.read(async (t) => {
    const { rows, ...page } = await offsetPage(t.table(settlements), { ...asked, ...slice })
    const today = await t.table(facilitatorDays).page('day', [dayOf(wall)], { limit: MAX_DAY_ROWS })
    return {
      ...factsOf(ctx),
      today: today.rows
        .map(({ seller, settlements: settled, gas }) => ({ seller, settlements: settled, gas }))
        .toSorted((one, two) => two.gas - one.gas),
      wrong_tokens: [...wrongTokens.of(ctx).all()],
      settlements: rows.map(shown),
      ...page,
    }
  })
}

function factsOf(ctx: Context) {
  const { config, chain } = ctx
  const { payTo, minValue, dailyGas } = rulesOf(ctx)
  const { address, name, version, decimals } = chain.asset
  const head = templatePath(api.getSupportedPayments.path).replace(/\/supported$/, '')
  return {
    enabled: config.facilitator !== undefined,
    url: `${ctx.baseUrl()}${head}`,
    keyless: isTestMoney(chain) && isLoopback(config.host) && config.publicUrl === undefined,
    network: chain.network,
    caip2: chain.caip2,
    asset: { address, name, version, decimals },
    pay_to: [...payTo],
    min_value: minValue,
    daily_gas: dailyGas,
  }
}

function shown(row: SettlementRow) {
  const validBefore = row.valid_before > MAX_DATE_SECONDS ? null : Number(row.valid_before) * SECOND_MS
  return { ...pick(row, FacilitatedSettlement.shape), valid_before: validBefore }
}

export const facilitatorAdminRoutes: FreeHandlers<typeof facilitatorAdminApi> = { listFacilitatedSettlements: list }
