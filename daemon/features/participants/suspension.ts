import { transition } from '../../kernel/machine.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { Draw } from '../../store/draw.ts'
import type { Collection, Row, Tx } from '../../store/port.ts'
import { releaseWaiting } from '../jobs/release.ts'
import { services } from '../listings/rows.ts'
import { announceOffer, putListing } from '../listings/write.ts'
import { emitPosting, postings } from '../postings/rows.ts'
import { productMachine } from '../products/routes.ts'
import { products } from '../products/rows.ts'
import { planMachine } from '../subscriptions/machine.ts'
import { plans } from '../subscriptions/rows.ts'
import { followUnserved } from '../subscriptions/unserved.ts'

/** Maximum rows read. It exceeds the limits on listings, plans, products and open requests. */
const MAX_OFFERED = 1_000

/** Event and status change of an offer when its provider is suspended or reinstated. */
const ways = {
  suspend: { event: 'suspend', from: 'active', to: 'suspended' },
  reinstate: { event: 'reinstate', from: 'suspended', to: 'active' },
} as const

type Way = (typeof ways)[keyof typeof ways]
type Moving = { readonly ownerId: string; readonly way: Way; readonly now: number }

/**
 * Suspends a participant's offers and requests, or restores the suspended ones. What the owner deactivated stays
 * inactive. Call it in the transaction that writes the participant.
 */
export async function followAccountState(
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
