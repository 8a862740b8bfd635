import type { z } from 'zod'
import type { Input } from '../../../src/api/endpoint/define.ts'
import { participantFields } from '../../../src/api/endpoint/list-fields.ts'
import type { participantAdminApi } from '../../../src/api/sections/admin-participants.ts'
import { AppError, notFound } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { audit } from '../../events/admin-log.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { ReadTx } from '../../store/port.ts'
import { listedPage } from '../../store/searched-page.ts'
import { balanceFacts } from '../payments/balance.ts'
import { followAccountState } from './suspension.ts'
import { ownParticipantView } from './view.ts'

type View = z.output<(typeof participantAdminApi.setParticipant)['reply']['schema']>

const listParticipants: FreeHandler<typeof participantAdminApi.listParticipants> = async ({ query }, { ctx, now }) => {
  const { limit = DEFAULT_PAGE, offset = 0 } = query
  const list = { rows: participants, ...indexFor(query), fields: participantFields, factsOf: factsIn(ctx.store) }
  const { rows, ...found } = await listedPage(ctx.store, list, { ...query, limit, offset, now })
  const shown = await ctx.store.read(async (t) => {
    const views = []
    for (const row of rows) views.push(await viewOf(t, row))
    return views
  })
  return { participants: shown, ...found, limit, offset }
}

const factsIn =
  (t: ReadTx) => async (row: ParticipantRow, uses: (field: keyof typeof participantFields) => boolean) => ({
    id: row.id,
    name: row.name,
    wallet: row.wallet,
    type: row.type,
    tier: row.verification_tier,
    suspended: row.suspended_at !== null,
    balance: uses('balance') ? (await balanceFacts(t, row)).available : null,
    age: row.created_at,
  })

function indexFor({ type, tier }: Input<typeof participantAdminApi.listParticipants>['query']) {
  if (type !== undefined && tier !== undefined) return { index: 'type_tier', prefix: [type, tier] }
  if (type !== undefined) return { index: 'type', prefix: [type] }
  return tier === undefined ? { index: 'newest', prefix: [] } : { index: 'tier', prefix: [tier] }
}

async function viewOf(t: ReadTx, row: ParticipantRow): Promise<View> {
  const { available, held } = await balanceFacts(t, row)
  return {
    ...ownParticipantView(row, false),
    suspended_at: row.suspended_at,
    referred_by: row.referred_by,
    balance: { available, held },
  }
}

const setParticipant: FreeHandler<typeof participantAdminApi.setParticipant> = async ({ params, body }, call) => {
  const { ctx, now } = call
  return commit(ctx, async (t, draw) => {
    const row = await t.table(participants).getForUpdate(params.id)
    if (!row) throw notFound('The participant')
    if (row.first_party && body.suspended)
      throw new AppError('conflict', 'The first-party provider (house) cannot be suspended.')
    const state = stateOf(row, body, now)
    const { verification_tier, suspended_at } = state
    const changed = verification_tier !== row.verification_tier || suspended_at !== row.suspended_at
    if (changed) await t.table(participants).put({ ...row, ...state, updated_at: now })
    if (changed) await followAccountState(t, draw, { row: { ...row, ...state }, now })
    const subject = { kind: 'participant', id: row.id }
    const detail = { verification_tier, suspended: suspended_at !== null }
    await audit(t, draw, { act: 'participant.set', subject, reason: body.reason, changed, detail, by: call })
    return viewOf(t, (await t.table(participants).get(row.id)) ?? row)
  })
}

type AccountState = Pick<ParticipantRow, 'verification_tier' | 'suspended_at'>

function stateOf(
  row: AccountState,
  change: Input<typeof participantAdminApi.setParticipant>['body'],
  now: number,
): AccountState {
  const isSuspended = change.suspended ?? row.suspended_at !== null
  return {
    verification_tier: change.verification_tier ?? row.verification_tier,
    suspended_at: isSuspended ? (row.suspended_at ?? now) : null,
  }
}

export const participantAdminRoutes: FreeHandlers<typeof participantAdminApi> = { listParticipants, setParticipant }
