import type { z } from 'zod'
import type { Input } from '../../../src/api/endpoint/define.ts'
import { participantFields } from '../../../src/api/endpoint/list-fields.ts'
import type { participantAdminApi } from '../../../src/api/sections/participants.ts'
import { AppError, existing } from '../../../src/core/error.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { audit } from '../../events/event-log.ts'
import { transition } from '../../kernel/machine.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { Collection, Draw, ReadTx, Row, Tx } from '../../store/port.ts'
import { listedPage } from '../../store/searched-page.ts'
import { releaseWaiting } from '../jobs/buyer.ts'
import { services } from '../listings/rows.ts'
import { announceOffer, putListing } from '../listings/write.ts'
import { balanceFacts } from '../payments/balance.ts'
import { emitPosting, postings } from '../postings/rows.ts'
import { productMachine } from '../products/routes.ts'
import { products } from '../products/rows.ts'
import { planMachine } from '../subscriptions/machine.ts'
import { plans } from '../subscriptions/rows.ts'
import { followUnserved } from '../subscriptions/unserved.ts'
import { ownParticipantView } from './profile-routes.ts'

/** Maximum rows read. It exceeds the limits on listings, plans, products and open requests. */
const MAX_OFFERED = 1_000

/** Event and status change of an offer when its provider is suspended or reinstated. */
const ways = {
  suspend: { event: 'suspend', from: 'active', to: 'suspended' },
  reinstate: { event: 'reinstate', from: 'suspended', to: 'active' },
} as const

type Moving = { readonly ownerId: string; readonly way: (typeof ways)[keyof typeof ways]; readonly now: number }

/**
 * Suspends a participant's offers and requests, or restores the suspended ones. What the owner deactivated stays
 * inactive. Call it in the transaction that writes the participant.
 */
async function followAccountState(
  t: Tx,
  draw: Draw,
  { row, now }: { readonly row: ParticipantRow; readonly now: number },
): Promise<void> {
  const way = row.suspended_at === null ? ways.reinstate : ways.suspend
  const moving = { ownerId: row.id, way, now }
  await moveListings(t, draw, moving)
  for (const { id } of await offeredOf(t, plans, moving)) await movePlan(t, draw, { ...moving, id })
  for (const { id } of await offeredOf(t, products, moving)) await moveProduct(t, draw, { ...moving, id })
  await moveRequests(t, draw, moving)
  await followUnserved(t, draw, { providerId: row.id, isSuspended: row.suspended_at !== null, now })
  if (way === ways.reinstate) await releaseWaiting(t, row, now)
}

async function offeredOf<R extends Row>(t: Tx, collection: Collection<R>, { ownerId, way }: Moving) {
  return (await t.table(collection).page('provider', [ownerId, way.from], { limit: MAX_OFFERED })).rows
}

async function moveListings(t: Tx, draw: Draw, moving: Moving): Promise<void> {
  for (const { id } of await offeredOf(t, services, moving)) {
    const service = await t.table(services).getForUpdate(id)
    if (service) await putListing(t, draw, { ...service, status: moving.way.to, updated_at: moving.now })
  }
}

type MovingOne = Moving & { readonly id: string }

async function movePlan(t: Tx, draw: Draw, { id, way, now }: MovingOne): Promise<void> {
  const locked = await t.table(plans).getForUpdate(id)
  if (!locked) return
  const { to } = transition(planMachine, { event: way.event, from: locked.status, by: 'admin' })
  const offer = await t.table(plans).put({ ...locked, status: to, updated_at: now })
  await announceOffer(t, draw, { type: 'plan.updated', offer })
}

async function moveProduct(t: Tx, draw: Draw, { id, way, now }: MovingOne): Promise<void> {
  const locked = await t.table(products).getForUpdate(id)
  if (!locked) return
  const { to } = transition(productMachine, { event: way.event, from: locked.status, by: 'admin' })
  const offer = await t.table(products).put({ ...locked, status: to, updated_at: now })
  await announceOffer(t, draw, { type: 'product.updated', offer })
}

/** Requests can expire while they are hidden. Only open requests are restored. */
async function moveRequests(t: Tx, draw: Draw, { ownerId, way, now }: Moving): Promise<void> {
  const { rows } = await t.table(postings).page('poster_open', [ownerId], { limit: MAX_OFFERED })
  for (const { id } of rows) {
    const locked = await t.table(postings).getForUpdate(id)
    if (!locked) continue
    const { poster_suspended: _was, ...shown } = locked
    const hidden = way.event === 'suspend' ? ({ poster_suspended: true } as const) : {}
    const posting = await t.table(postings).put({ ...shown, ...hidden, updated_at: now })
    await emitPosting(t, draw, {
      posting,
      type: `posting.${way.event === 'suspend' ? 'suspended' : 'reinstated'}`,
      at: now,
    })
  }
}

type View = z.output<(typeof participantAdminApi.setParticipant)['reply']['schema']>

export const participantAdminRoutes: FreeHandlers<typeof participantAdminApi> = {
  listParticipants: async ({ query }, { ctx, now }) => {
    const list = { rows: participants, ...indexFor(query), fields: participantFields, factsOf: factsIn(ctx.store) }
    const { rows, ...found } = await listedPage(ctx.store, list, { ...query, now })
    const shown = await ctx.store.read(async (t) => {
      const views = []
      for (const row of rows) views.push(await viewOf(t, row))
      return views
    })
    return { participants: shown, ...found }
  },

  setParticipant: async ({ params, body }, call) => {
    const { ctx, now } = call
    return commit(ctx, async (t, draw) => {
      const row = existing(await t.table(participants).getForUpdate(params.id), 'The participant')
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
  },
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
