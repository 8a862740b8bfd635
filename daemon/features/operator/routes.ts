import type { z } from 'zod'
import type { MarketEvent, operatorApi } from '../../../src/api/sections/admin.ts'
import type { enginesApi } from '../../../src/api/sections/engines.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { formatAmount, ZERO } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import { DAY_MS, SECOND_MS } from '../../../src/core/time.ts'
import { logLevels } from '../../../src/model/words.ts'
import type { EventValue, FreeHandlers } from '../../endpoint/handler.ts'
import { engineBoard } from '../../engines/engines.ts'
import { dataOf } from '../../events/event-log.ts'
import { type EventRow, events } from '../../events/rows.ts'
import { eventSignal, type SignalPlace } from '../../events/signal.ts'
import type { Context } from '../../kernel/context.ts'
import type { ChainPort } from '../../ports/chain/chain.ts'
import type { ReadTx } from '../../store/port.ts'
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

  getMetrics: async (_input, { ctx }) => ({ bytes: Buffer.from(await metrics.of(ctx).text()), cache: 'no-store' }),

  getBackup: async (_input, { ctx, wall }) =>
    backups.of(ctx).next(`souk-${new Date(wall).toISOString().replaceAll(':', '-')}.tar`),
}

/** Registers an ERC-8004 identity for a wallet, whose holder can then link it. */
async function newIdentity({ mode, identityRegistry }: ChainPort, wallet: Wallet) {
  if (!identityRegistry.mint) throw new AppError('unavailable', `The ${mode} chain has no test identities.`)
  const agentId = await identityRegistry.mint(wallet)
  return { agent_registry: identityRegistry.name, agent_id: String(agentId) }
}

const TAIL_PAGE = 200

type Tail = {
  readonly after: number | undefined
  /** Number of newest events to start with if there is no cursor. */
  readonly last: number
  readonly signal: AbortSignal
  /** Names and amount to show with an event. */
  readonly aboutOf: (t: ReadTx, row: EventRow) => Promise<NonNullable<z.output<typeof MarketEvent>['about']>>
}

/**
 * Events after a cursor, then new ones as they are logged. A reader that reconnects with its last cursor misses none,
 * because all are read from the log.
 * @throws AppError `rate_limited` when too many readers follow the log.
 */
function tailEvents(ctx: Context, tail: Tail): AsyncIterable<EventValue<typeof MarketEvent>> {
  return followLog(ctx, { ...tail, place: eventSignal.of(ctx).enter(null, tail.signal) })
}

async function* followLog(
  ctx: Context,
  { after, last, signal, place, aboutOf }: Tail & { readonly place: SignalPlace },
): AsyncGenerator<EventValue<typeof MarketEvent>> {
  try {
    let cursor = after ?? Math.max(0, (await lastCursor(ctx)) - last)
    while (!signal.aborted && !ctx.stopping.aborted) {
      const heard = place.heard()
      const rows = await eventsAfter(ctx, cursor)
      await ctx.store.durable() // on the disk before the response says so
      for (const row of rows) {
        const about = await ctx.store.read((t) => aboutOf(t, row))
        yield { id: String(row.seq), event: row.type, data: { ...(await eventView(ctx, row)), about } }
        cursor = row.seq
      }
      if (rows.length === 0) await place.after(heard, signal)
    }
  } finally {
    place.leave()
  }
}

async function lastCursor(ctx: Context): Promise<number> {
  const page = await ctx.store.table(events).page('seq', [], { limit: 1, order: 'desc' })
  return page.rows[0]?.seq ?? 0
}

async function eventsAfter(ctx: Context, cursor: number): Promise<readonly EventRow[]> {
  const page = await ctx.store.table(events).page('seq', [], { limit: TAIL_PAGE, beyond: [cursor] })
  return page.rows
}

async function eventView(ctx: Context, row: EventRow): Promise<z.output<typeof MarketEvent>> {
  return {
    id: row.id,
    event_id: row.id,
    cursor: row.seq,
    at: row.at,
    type: row.type,
    participant_id: row.participant_id,
    subject: { kind: row.subject_kind, id: row.subject_id },
    data: await dataOf(ctx, row),
    ...compact({ tx: row.tx }),
  }
}
