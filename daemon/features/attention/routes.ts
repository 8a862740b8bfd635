import type { attentionApi } from '../../../src/api/sections/attention.ts'
import { tableOf } from '../../../src/core/record.ts'
import { attentionKinds, ownAttentionKinds } from '../../../src/model/words.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import { alarms, allRows } from './alarms.ts'
import { finders } from './find.ts'
import { chainOf, cronsOf, enginesOf, storageOf, switchesOf } from './look.ts'
import { ownFinders } from './own.ts'
import { upkeepOf } from './upkeep.ts'

/** Open problems. Only indexes of open items are read, so the cost grows with their number. */
export async function attentionOf(ctx: Context, now: number) {
  const inBooks = await ctx.store.read((t) => Promise.all(finders.map((find) => find({ ctx, t, now }))))
  const found = [
    ...inBooks,
    await chainOf(ctx),
    ...(await storageOf(ctx)),
    await cronsOf(ctx),
    await enginesOf(ctx),
    ...(await switchesOf(ctx, now)),
    ...(await upkeepOf(ctx, now)),
  ]
  const order = found.toSorted((one, two) => attentionKinds.indexOf(one.kind) - attentionKinds.indexOf(two.kind))
  const all = order.flatMap(({ kind, items }) => items.map((item) => ({ ...item, kind })))
  const counts = tableOf(attentionKinds, (kind) => order.find((one) => one.kind === kind)?.count ?? 0)
  return {
    items: [...all.filter(({ grave }) => grave), ...all.filter(({ grave }) => !grave)],
    counts,
    total: found.reduce((sum, { count }) => sum + count, 0),
  }
}

const getAttention: FreeHandler<typeof attentionApi.getAttention> = (_input, { ctx, now }) => attentionOf(ctx, now)

/** Items that need an action by the caller, from indexes of the caller's items. */
const getOwnAttention: FreeHandler<typeof attentionApi.getOwnAttention> = async (_input, { ctx, caller }) => {
  const found = await ctx.store.read((t) => Promise.all(ownFinders.map((find) => find({ t, me: caller }))))
  return {
    items: found.flatMap(({ kind, items }) => items.map((item) => ({ ...item, kind }))),
    counts: tableOf(ownAttentionKinds, (kind) => found.find((one) => one.kind === kind)?.count ?? 0),
    total: found.reduce((sum, { count }) => sum + count, 0),
  }
}

const getAlarms: FreeHandler<typeof attentionApi.getAlarms> = async (_input, { ctx }) => {
  const { targets, secret } = alarms.of(ctx)
  const rows = new Map((await allRows(ctx)).map((row) => [row.id, row]))
  const { quietHours = null, hotCeiling = null } = ctx.config
  return {
    targets: targets.map(({ id, shown }) => {
      const { told = [], sent_at = null, failing_since = null, error = null } = rows.get(id) ?? {}
      return { target: shown, open: told.length, sent_at, failing_since, error }
    }),
    quiet_hours: quietHours,
    hot_ceiling: hotCeiling,
    webhook_secret: targets.some(({ kind }) => kind === 'webhook') ? secret : null,
  }
}

const testAlarms: FreeHandler<typeof attentionApi.testAlarms> = async (_input, { ctx }) => {
  return { results: [...(await alarms.of(ctx).test())] }
}

export const attentionRoutes: FreeHandlers<typeof attentionApi> = {
  ...{ getAttention, getOwnAttention, getAlarms, testAlarms },
}
