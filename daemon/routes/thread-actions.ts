import type { api } from '../../src/api/index.ts'
import { AppError, notFound } from '../../src/core/error.ts'
import type { JobRow } from '../../src/model/job.ts'
import type { PartyRole } from '../../src/model/party.ts'
import type { ThreadRow } from '../../src/model/thread.ts'
import { addMessage, threadView } from '../conversation.ts'
import type { FreeHandler, PaidHandler } from '../handler.ts'
import { jobSideOf, notYours, sideOf } from '../job-access.ts'
import { jobSummary } from '../job-view.ts'
import { applyStep, holdJob } from '../jobs/apply.ts'
import { checkDispute, checkVerify, disputeAt, reportAt, sendRefunds, verifyAt } from '../jobs/at-place.ts'
import { jobAt, threadById } from '../jobs/place.ts'
import { reportOf } from '../jobs/report-body.ts'
import { postings } from '../rules/books.ts'
import { threads } from '../store/collections.ts'
import { commit, type Draw } from '../store/draw.ts'
import type { ReadTx, Tx } from '../store/port.ts'

const atThread = ({ id }: { readonly id: string }) => ({ kind: 'thread', id }) as const

async function withJob(t: ReadTx, job: JobRow) {
  return { ...threadView(await threadById(t, job.thread_id)), job: jobSummary(job) }
}

export const updateThread: FreeHandler<typeof api.updateThread> = async ({ params, body }, { world, caller, now }) => {
  const job = await reportAt(world, { place: atThread(params), provider: caller, report: reportOf(body), now })
  return world.store.read((t) => withJob(t, job))
}

export const verifyThread: PaidHandler<typeof api.verifyThread> = {
  async check({ params }, { world, payer }) {
    await world.store.read((t) => checkVerify(t, { place: atThread(params), buyer: payer }))
  },

  async effect(t, draw, { input, payer, payment, source, now }) {
    const job = await verifyAt(t, draw, { place: atThread(input.params), buyer: payer, opinion: input.body, at: now })
    return {
      kind: 'fixed_price_call',
      ref: { kind: 'job', id: job.id },
      legs: postings.fixedPriceCall({ source, price: payment.price }),
      answer: await withJob(t, job),
    }
  },
}

export const disputeThread: PaidHandler<typeof api.disputeThread> = {
  async free({ params, body }, { world, caller, now }) {
    const place = atThread(params)
    const seen = await world.store.read((t) => jobAt(t, place))
    if (jobSideOf(seen, caller, now) !== 'buyer') throw notYours('The buyer’s side of the job')
    return commit(world, async (t, draw) => {
      const by = { place, buyer: { wallet: seen.buyer_wallet }, complaint: body, at: now }
      return withJob(t, await disputeAt(t, draw, by))
    })
  },

  async check({ params }, { world, payer, now }) {
    await world.store.read((t) => checkDispute(t, { place: atThread(params), buyer: payer, at: now }))
  },

  async effect(t, draw, { input, payer, payment, source, now }) {
    const by = { place: atThread(input.params), buyer: payer, complaint: input.body, at: now }
    const job = await disputeAt(t, draw, by)
    return {
      kind: 'fixed_price_call',
      ref: { kind: 'job', id: job.id },
      legs: postings.fixedPriceCall({ source, price: payment.price }),
      answer: await withJob(t, job),
    }
  },
}

/** Ends a negotiation, or a job that has not been delivered; the buyer then has its money back. */
export const declineThread: FreeHandler<typeof api.declineThread> = async (
  { params, body },
  { world, caller, now },
) => {
  const declined = await commit(world, async (t, draw) => {
    const thread = await t.table(threads).getForUpdate(params.id)
    if (!thread) throw notFound('The thread')
    const side = sideOf(thread, caller)
    if (!side) throw notYours('The thread')
    const detail = body.reason ?? ''
    if (thread.job_id === null) return { view: await endTalk(t, draw, { thread, side, detail, at: now }) }
    const held = (await holdJob(t, thread.job_id)) as JobRow // a thread names a job that is there
    const job = await applyStep(t, draw, { job: held, step: { event: 'cancel', by: side, at: now, detail } })
    return { view: await withJob(t, job), job }
  })
  if (declined.job) sendRefunds(world, declined.job)
  return declined.view
}

type Ending = { readonly thread: ThreadRow; readonly side: PartyRole; readonly detail: string; readonly at: number }

async function endTalk(t: Tx, draw: Draw, { thread, side, detail, at }: Ending) {
  if (thread.status === 'cancelled') {
    throw new AppError('invalid_transition', 'This conversation was cancelled before.', {
      extra: { from: thread.status, to: 'cancelled', allowed: [] },
    })
  }
  const body = [`The ${side} declined.`, detail].filter(Boolean).join(' ')
  const message = { author_role: side, type: 'status', body, now: at } as const
  const ended = await addMessage(t, draw, { thread: { ...thread, status: 'cancelled' }, message })
  return threadView(ended.thread)
}
