import type { z } from 'zod'
import { deliveryFields } from '../../../src/api/endpoint/list-fields.ts'
import { Delivery, type deliveriesApi, type webhookAdminApi } from '../../../src/api/sections/webhooks.ts'
import { at, pick, tableOf } from '../../../src/core/record.ts'
import { type DeliveryState, deliveryStates } from '../../../src/model/delivery.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { audit } from '../../events/event-log.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { type OffsetSlice, offsetPage } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { listedPage } from '../../store/searched-page.ts'
import { replay } from './queue.ts'
import { type DeliveryRow, deliveries } from './rows.ts'

/** A delivery for its owner and the administrator. It omits the body, which may be large. */
export function deliveryView(row: DeliveryRow): z.output<typeof Delivery> {
  return {
    ...pick(row, Delivery.shape),
    delivery_id: row.id,
    status: row.state,
    next_attempt_at: row.next_at,
    ended_at: row.state === 'pending' ? null : row.at,
    attempts: row.attempts.map(({ excerpt, never_sent: _, ...attempt }) => ({ ...attempt, response_excerpt: excerpt })),
  }
}

export const webhookRoutes: FreeHandlers<typeof deliveriesApi & typeof webhookAdminApi> = {
  listDeliveries: async ({ query }, { ctx, caller }) =>
    ctx.store.read((t) => listed(t, { ...query, participant: caller.id })),

  replayDelivery: async ({ params }, { ctx, caller, now }) =>
    deliveryView(await commit(ctx, (t) => replay(t, params.id, { owner: caller.id, now }))),

  /** Replays any delivery for the operator and writes a log entry. */
  replayForOperator: async ({ params }, call) => {
    const { ctx, now } = call
    const row = await commit(ctx, async (t, draw) => {
      const replayed = await replay(t, params.id, { now })
      const subject = { kind: 'delivery', id: replayed.id }
      await audit(t, draw, { act: 'delivery.replay', subject, changed: true, by: call })
      return replayed
    })
    return deliveryView(row)
  },

  getWebhooks: async ({ query }, { ctx, now }) => {
    const list = { rows: deliveries, ...indexOf(query), fields: deliveryFields, factsOf: factsIn(ctx.store) }
    const { rows, ...found } = await listedPage(ctx.store, list, { ...query, now })
    const sums = await ctx.store.read((t) =>
      Promise.all(deliveryStates.map((state) => t.table(deliveries).count('state', [state]))),
    )
    const counts = tableOf(deliveryStates, (state) => at(sums, deliveryStates.indexOf(state)))
    return { deliveries: rows.map(deliveryView), ...found, counts }
  },
}

const factsIn = (t: ReadTx) => async (row: DeliveryRow, uses: (field: keyof typeof deliveryFields) => boolean) => ({
  id: row.id,
  status: row.state,
  type: row.type,
  provider: uses('provider')
    ? [(await t.table(participants).get(row.participant_id))?.name ?? '', row.participant_id]
    : null,
  service: row.service_id,
  url: row.url,
  job: row.job_id,
  reason: row.reason,
  age: row.created_at,
})

type DeliveryQuery = {
  readonly status?: DeliveryState | undefined
  readonly participant?: string | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

async function listed(t: ReadTx, query: DeliveryQuery) {
  const { rows, ...page } = await offsetPage(t.table(deliveries), { ...query, ...indexOf(query) })
  return { deliveries: rows.map(deliveryView), ...page }
}

function indexOf({ status, participant }: DeliveryQuery): Pick<OffsetSlice, 'index' | 'prefix'> {
  if (participant === undefined)
    return status === undefined ? { index: 'newest', prefix: [] } : { index: 'state', prefix: [status] }
  return status === undefined
    ? { index: 'own', prefix: [participant] }
    : { index: 'own_state', prefix: [participant, status] }
}
