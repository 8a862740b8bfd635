import type { operatorApi } from '../../../src/api/sections/admin.ts'
import type { enginesApi } from '../../../src/api/sections/engines.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { formatAmount, ZERO } from '../../../src/core/money.ts'
import { DAY_MS, SECOND_MS } from '../../../src/core/time.ts'
import { logLevels } from '../../../src/model/words.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { engineBoard } from '../../engines/engines.ts'
import { tailEvents } from '../../events/tail.ts'
import type { Context } from '../../kernel/context.ts'
import type { ChainPort } from '../../ports/chain/chain.ts'
import { backups } from '../backup/archive.ts'
import { firstPartyServices } from '../first-party/index.ts'
import { aboutOf } from './event-about.ts'
import { metrics } from './metrics.ts'

export const engineRoutes: FreeHandlers<typeof enginesApi> = {
  listEngines: async (_input, { ctx }) => standings(ctx),

  /** Sends requests to the servers of remote engines. Otherwise only purchases do that. */
  checkEngines: async (_input, { ctx }) => {
    await engineBoard.of(ctx).reach()
    return standings(ctx)
  },
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
      functions: functions.filter(({ needs }) => needs.some((need) => need === name)).map(({ slug }) => slug),
      looked_at: lookedAt,
      reached,
    })),
  }
}

const DEFAULT_LOG_RECORDS = 200

export const operatorRoutes: FreeHandlers<typeof operatorApi> = {
  faucet: async ({ body }, { ctx, wall }) => {
    const { chain } = ctx
    if (!chain.faucet) throw new AppError('unavailable', `The ${chain.mode} chain has no faucet: its money is real.`)
    if (body.amount <= ZERO) throw invalidField('amount', 'must be more than 0')
    const drip = await chain.faucet({ wallet: body.wallet, amount: body.amount, nowMs: wall })
    if (!drip.ok) {
      throw new AppError(
        'rate_limited',
        `The faucet has $${formatAmount(drip.remainingToday)} left for this wallet today.`,
        { retryAfter: Math.ceil(DAY_MS / SECOND_MS), extra: { remaining_today: formatAmount(drip.remainingToday) } },
      )
    }
    return {
      wallet: body.wallet,
      credited: drip.granted,
      balance: await chain.balanceOf(body.wallet),
      transaction: drip.transaction,
      ...(body.identity ? { identity: await newIdentity(chain, body.wallet) } : {}),
    }
  },

  streamEvents: async ({ query }, { ctx, signal }) => ({
    follow: () => tailEvents(ctx, { after: query.cursor, last: query.last ?? 0, signal: signal(), aboutOf }),
  }),

  getLogs: async ({ query }, { ctx }) => {
    const { records, dropped } = ctx.log.recent()
    const least = logLevels.indexOf(query.level ?? 'debug')
    const wanted = records.filter(
      (record) =>
        logLevels.indexOf(record.level) >= least &&
        (query.source === undefined || record.source === query.source) &&
        (query.request === undefined || record.request_id === query.request),
    )
    return { records: wanted.slice(-(query.limit ?? DEFAULT_LOG_RECORDS)), dropped }
  },

  getMetrics: async (_input, { ctx }) => ({
    bytes: Buffer.from(await metrics.of(ctx).text()),
    cache: 'no-store',
  }),

  getBackup: async (_input, { ctx, wall }) =>
    backups.of(ctx).next(`souk-${new Date(wall).toISOString().replaceAll(':', '-')}.tar`),
}

/** Registers an ERC-8004 identity for a wallet, whose holder can then link it. */
async function newIdentity({ mode, identityRegistry }: ChainPort, wallet: Wallet) {
  if (!identityRegistry.mint) throw new AppError('unavailable', `The ${mode} chain has no test identities.`)
  const agentId = await identityRegistry.mint(wallet)
  return { agent_registry: identityRegistry.name, agent_id: String(agentId) }
}
