import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import type { JsonObject } from '../../../src/model/service.ts'
import { defineCron, idleUnderCutover } from '../../crons/cron.ts'
import { type DueWork, dueWork, earliestDue, runDueWork } from '../../crons/due-work.ts'
import { everyMinute } from '../../crons/schedule.ts'
import { emit } from '../../events/event-log.ts'
import { type Context, inBackground } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import type { Platform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { endpointOf, enqueue, replay } from '../webhooks/queue.ts'
import type { DeliveryRow } from '../webhooks/rows.ts'
import { isWished, isWithinTier } from './bid.ts'
import { stepPosting } from './close.ts'
import { postingStatusAt } from './machine.ts'
import { fanouts, notices, type OptInRow, optIns, type PostingRow, postings } from './rows.ts'

/** During the cutover no notifications are sent, because nobody could bid. */
const rests = ({ checkout_v2 }: Platform) => checkout_v2

export const postingWork: readonly DueWork[] = [
  dueWork({
    name: 'posting.expire',
    collection: postings,
    index: 'due',
    dueAt: (row) => row.expires_at,
    run: (ctx, id, now) =>
      commit(ctx, async (t, draw) => {
        const posting = await t.table(postings).getForUpdate(id)
        if (!posting?.open || posting.expires_at > now) return
        await stepPosting(t, draw, { posting, event: 'expire', by: 'system', at: now })
      }),
  }),
  dueWork({ name: 'posting.tell', collection: fanouts, index: 'at', dueAt: (row) => row.at, rests, run: tellAll }),
  dueWork({
    name: 'posting.retry',
    collection: notices,
    index: 'due',
    dueAt: (row) => row.next_at,
    rests,
    run: (ctx, id, now) => commit(ctx, (t) => retryNotice(t, { id, now })),
  }),
]

/** Ends expired requests, and continues notifications of new ones (decisions §9, §10). */
export const postingNotifyRetries = defineCron({
  name: 'posting-notify-retries',
  schedule: everyMinute,
  deadlineMs: 2 * MINUTE_MS,
  inHealth: true,
  run: async (call) => ((await runDueWork(postingWork, call)) > 0 ? undefined : idleUnderCutover(call.ctx)),
  nextDue: (ctx, from) => earliestDue(postingWork, ctx, from),
})

/** Maximum opt-ins processed per transaction. */
export const FANOUT_ROWS = 50
/** Maximum participants notified of one request. */
const MAX_TOLD = 10_000
/** Delay after each failed attempt. After the last delay, one more failure drops the notification. */
export const NOTICE_DELAYS_MS: readonly number[] = [
  MINUTE_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  DAY_MS,
]
/** Number of consecutive failures after which an opt-in is switched off (decisions §9). */
export const MAX_CONSECUTIVE_FAILURES = 20
const NOTICE = 'request.created'

type Due = { readonly id: string; readonly now: number }

/** Tells the next participants with an opt-in about a new request. @returns whether further opt-ins remain */
async function tellNext(t: Tx, draw: Draw, { id, now }: Due): Promise<boolean> {
  const fanout = await t.table(fanouts).getForUpdate(id)
  if (!fanout) return false
  const posting = await t.table(postings).get(id)
  if (!posting || posting.poster_suspended || postingStatusAt(posting, now) !== 'open') return finished(t, id)
  const after = fanout.after === null ? {} : { after: fanout.after }
  const page = await t.table(optIns).page('enabled', [], { limit: FANOUT_ROWS, ...after })
  let { told } = fanout
  for (const row of page.rows) {
    if (await tell(t, draw, { optIn: row, posting, now })) told += 1
  }
  if (!page.more || told >= MAX_TOLD) return finished(t, id)
  await t.table(fanouts).put({ ...fanout, after: page.cursor, told })
  return true
}

async function finished(t: Tx, id: string): Promise<boolean> {
  await t.table(fanouts).delete(id)
  return false
}

type Telling = { readonly optIn: OptInRow; readonly posting: PostingRow; readonly now: number }

/**
 * Writes a notification to the event log, and queues it for the endpoint if there is one.
 * @returns whether it notified the participant
 */
async function tell(t: Tx, draw: Draw, { optIn, posting, now }: Telling): Promise<boolean> {
  const { id: participantId } = optIn
  const participant = await t.table(participants).get(participantId)
  if (!participant || participant.suspended_at !== null) return false
  if (participantId === posting.poster_id || !isWished(optIn, posting)) return false
  if (!isWithinTier(participant.verification_tier, posting.budget_max)) return false
  const data = noticeOf(posting)
  await emit(t, draw, { type: NOTICE, participantId, subject: { kind: 'posting', id: posting.id }, data, at: now })
  const delivery = await enqueue(t, draw, {
    participantId,
    sender: posting.poster_id,
    type: NOTICE,
    data,
    now,
    once: true,
  })
  if (!delivery) return true
  await t.table(notices).insert({
    id: `${posting.id}:${participantId}`,
    posting_id: posting.id,
    participant_id: participantId,
    delivery_id: delivery.id,
    failures: 0,
    waiting: false,
    next_at: null,
  })
  await noticeEnded(t, draw, { delivery, now })
  return true
}

/** Members of `request.created`, with relative paths (decisions §10). */
function noticeOf({ id, title, category, budget_min, budget_max }: PostingRow): JsonObject {
  return {
    posting_id: id,
    posting_url: `/v1/postings/${id}`,
    bids_url: `/v1/postings/${id}/bids`,
    title,
    category,
    budget_min_usd: Number(budget_min) / MICRO_PER_USD,
    budget_max_usd: Number(budget_max) / MICRO_PER_USD,
  }
}

const MICRO_PER_USD = 1_000_000

type Heard = { readonly postingId: string; readonly participantId: string }

/** Whether a notification is still useful: the request is open and visible, and the opt-in is on. */
async function isWanted(t: ReadTx, { postingId, participantId }: Heard): Promise<boolean> {
  const posting = await t.table(postings).get(postingId)
  if (posting?.poster_suspended) return false
  return posting?.status === 'open' && (await t.table(optIns).get(participantId))?.enabled === true
}

/** Whether a delivery is still useful. Only a notification about a request for work can become useless. */
export async function isNoticeWanted(t: ReadTx, { type, body, participant_id }: DeliveryRow): Promise<boolean> {
  if (type !== NOTICE) return true
  const { posting_id: postingId } = JSON.parse(body) as { posting_id: string } // bytes of `noticeOf`
  return isWanted(t, { postingId, participantId: participant_id })
}

type Ended = { readonly delivery: DeliveryRow; readonly now: number }

/** Updates an opt-in after a delivery of its notification has ended. */
export async function noticeEnded(t: Tx, draw: Draw, { delivery, now }: Ended): Promise<void> {
  if (delivery.type !== NOTICE || delivery.open) return
  const [found] = (await t.table(notices).page('delivery', [delivery.id], { limit: 1 })).rows
  const notice = found && (await t.table(notices).getForUpdate(found.id))
  if (!notice) return
  const optIn = await t.table(optIns).getForUpdate(notice.participant_id)
  if (!optIn || delivery.state !== 'dead') {
    await t.table(notices).delete(notice.id)
    if (optIn && delivery.state === 'delivered') await countFailure(t, draw, { optIn, count: 0, now })
    return
  }
  const isOn = await countFailure(t, draw, { optIn, count: optIn.consecutive_failures + 1, now })
  const delay = NOTICE_DELAYS_MS[notice.failures]
  if (!isOn || delay === undefined) await t.table(notices).delete(notice.id)
  else await t.table(notices).put({ ...notice, failures: notice.failures + 1, waiting: true, next_at: now + delay })
}

type Count = { readonly optIn: OptInRow; readonly count: number; readonly now: number }

/** @returns whether the opt-in is still on */
async function countFailure(t: Tx, draw: Draw, { optIn, count, now }: Count): Promise<boolean> {
  if (count === optIn.consecutive_failures) return optIn.enabled
  const isOff = optIn.enabled && count >= MAX_CONSECUTIVE_FAILURES
  const enabled = optIn.enabled && !isOff
  await t.table(optIns).put({ ...optIn, enabled, consecutive_failures: count, updated_at: now })
  if (isOff) {
    await emit(t, draw, {
      type: 'request.notifications_disabled',
      participantId: optIn.id,
      subject: { kind: 'participant', id: optIn.id },
      data: { consecutive_failures: count },
      at: now,
    })
  }
  return enabled
}

/** Sends a due notification again, with the same bytes so that receivers can recognise it. */
async function retryNotice(t: Tx, { id, now }: Due): Promise<void> {
  const notice = await t.table(notices).getForUpdate(id)
  if (!notice?.waiting || notice.next_at === null || notice.next_at > now) return
  const { delivery_id, participant_id: owner, posting_id: postingId } = notice
  const endpoint = await endpointOf(t, { participantId: owner, serviceId: null })
  if (!endpoint || !(await isWanted(t, { postingId, participantId: owner }))) {
    await t.table(notices).delete(id)
    return
  }
  await t.table(notices).put({ ...notice, waiting: false, next_at: null })
  await replay(t, delivery_id, { owner, now })
}

/** Notifies all participants with an opt-in, a limited number per transaction. Resumes after a crash. */
async function tellAll(ctx: Context, id: string, now: number): Promise<void> {
  while (await commit(ctx, (t, draw) => tellNext(t, draw, { id, now })));
}

/** Sends a new request's notifications in the background. If the daemon stops meanwhile, the cron continues. */
export function startTelling(ctx: Context, id: string): void {
  inBackground(ctx, 'postings', () => tellAll(ctx, id, ctx.clock.now()))
}
