import type { enginesApi } from '../../../src/api/sections/engines.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import { engineBoard } from '../engines/engines.ts'
import { firstPartyServices } from '../first-party/index.ts'

const listEngines: FreeHandler<typeof enginesApi.listEngines> = async (_input, { ctx }) => standings(ctx)

/** Besides a purchase the one act that asks anybody outside. */
const checkEngines: FreeHandler<typeof enginesApi.checkEngines> = async (_input, { ctx }) => {
  await engineBoard.of(ctx).reach()
  return standings(ctx)
}

function standings(ctx: Context) {
  const functions = [...firstPartyServices.values()]
  const engines = engineBoard.of(ctx).standings()
  return {
    engines: engines.map(({ name, status, detail, fix = null, lookedAt = null, reached = null }) => ({
      name,
      status,
      detail,
      fix,
      functions: functions
        .filter(({ needs, oneOf }) => [...needs, ...oneOf].some((need) => need === name))
        .map(({ slug }) => slug),
      looked_at: lookedAt,
      reached,
    })),
  }
}

export const engineRoutes: FreeHandlers<typeof enginesApi> = { listEngines, checkEngines }
