import type { threadActionsApi } from '../../../src/api/sections/thread-actions.ts'
import { existing } from '../../../src/core/error.ts'
import { notYours, sideOf } from '../../kernel/parties.ts'
import { commit } from '../../store/draw.ts'
import type { ReadTx } from '../../store/port.ts'
import { disputing, verifying } from '../jobs/action-routes.ts'
import { disputeAt, jobAt, reportAt, sendRefunds, threadById } from '../jobs/acts.ts'
import { applyStep, lockJob } from '../jobs/apply.ts'
import { watchTime } from '../jobs/downtime.ts'
import { reportOf } from '../jobs/report.ts'
import { jobSideOf } from '../jobs/routes.ts'
import type { JobRow } from '../jobs/rows.ts'
import { negotiate } from '../jobs/thread-step.ts'
import { jobSummary } from '../jobs/view.ts'
import { refuseForeignProof } from '../payments/proofs.ts'
import type { Handlers } from '../payments/seller.ts'
import { countGasAct } from '../payouts/withdrawals.ts'
import { threadView } from '../threads/messages.ts'
import { type ThreadRow, threads } from '../threads/rows.ts'

const atThread = ({ id }: { readonly id: string }) => ({ kind: 'thread', id }) as const

async function withJob(t: ReadTx, { job, now }: { readonly job: JobRow; readonly now: number }) {
  return { ...threadView(await threadById(t, job.thread_id), now), job: jobSummary(job) }
}

const inThread = { placeOf: atThread, show: withJob }

export const threadActionRoutes: Handlers<typeof threadActionsApi> = {
  /** Ends a negotiation, or else ends an undelivered job and refunds its buyer. */
  declineThread: async ({ params, body }, { ctx, caller, now }) => {
    const declined = await commit(ctx, async (t, draw) => {
      const thread = existing(await t.table(threads).getForUpdate(params.id), 'The thread')
      const side = sideOf(thread, caller)
      if (!side) throw notYours('The thread')
      const detail = body.reason ?? ''
      if (thread.job_id === null) {
        const body = [`The ${side} declined.`, detail].filter(Boolean).join(' ')
        const ended = await negotiate(t, draw, { thread, step: { event: 'decline', by: side, body, at: now } })
        return { view: threadView(ended, now) }
      }
      const locked = (await lockJob(t, thread.job_id)) as JobRow // a thread names a job that is there
      // A refund costs gas, and a buyer could cause refunds repeatedly for free.
      if (side === 'buyer') await countGasAct(t, ctx, { wallet: locked.buyer_wallet })
      const job = await applyStep(t, draw, { job: locked, step: { event: 'cancel', by: side, at: now, detail } })
      return { view: await withJob(t, { job, now }), job }
    })
    if (declined.job) sendRefunds(ctx, declined.job)
    return declined.view
  },

  updateThread: async ({ params, body }, { ctx, caller, now }) => {
    const job = await reportAt(ctx, { place: atThread(params), provider: caller, report: reportOf(body), now })
    return ctx.store.read((t) => withJob(t, { job, now }))
  },

  verifyThread: verifying(inThread),

  disputeThread: {
    async free({ params, body }, { ctx, caller, now }) {
      const place = atThread(params)
      const isTheirs = (thread: ThreadRow) => !('token' in caller) && sideOf(thread, caller) === 'buyer'
      const seen = await ctx.store.read((t) => jobAt(t, place, { event: 'dispute', by: 'buyer', isTheirs }))
      if (jobSideOf(seen, caller, now) !== 'buyer') throw notYours('The buyer’s side of the job')
      if (body.category === 'not_delivered') await watchTime(ctx, { now })
      await refuseForeignProof(ctx, seen.payment_id, body.proof)
      return commit(ctx, async (t, draw) => {
        const by = { place, buyer: { wallet: seen.buyer_wallet }, complaint: body, at: now }
        return withJob(t, { job: await disputeAt(t, draw, by), now })
      })
    },

    ...disputing(inThread),
  },
}
