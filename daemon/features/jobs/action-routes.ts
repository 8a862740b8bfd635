import type { jobActionsApi } from '../../../src/api/sections/job-actions.ts'
import type { FreeHandler } from '../../endpoint/handler.ts'
import { legsOf } from '../ledger/legs.ts'
import type { Handlers, PaidHandler } from '../payments/seller.ts'
import { checkDispute, checkVerify, disputeAt, noticeOfDispute, reportAt, verifyAt } from './acts.ts'
import { lookAtClock } from './downtime.ts'
import { reportOf } from './report.ts'
import { jobSummary } from './view.ts'

const atJob = ({ id }: { readonly id: string }) => ({ kind: 'job', id }) as const

const updateJob: FreeHandler<typeof jobActionsApi.updateJob> = async ({ params, body }, { ctx, caller, now }) =>
  jobSummary(await reportAt(ctx, { place: atJob(params), provider: caller, report: reportOf(body), now }))

const verifyJob: PaidHandler<typeof jobActionsApi.verifyJob> = {
  async check({ params }, { ctx, payer, now }) {
    await ctx.store.read((t) => checkVerify(t, { place: atJob(params), buyer: payer, at: now }))
  },

  async fulfil(t, draw, { input, payer, payment, source, now }) {
    const job = await verifyAt(t, draw, { place: atJob(input.params), buyer: payer, opinion: input.body, at: now })
    return {
      kind: 'fixed_price_call',
      ref: { kind: 'job', id: job.id },
      legs: legsOf.fixedPriceCall({ source, price: payment.price }),
      answer: jobSummary(job),
    }
  },
}

const disputeJob: PaidHandler<typeof jobActionsApi.disputeJob> = {
  notice: ({ params }, { ctx, now }) => ctx.store.read((t) => noticeOfDispute(t, { place: atJob(params), at: now })),

  async check({ params, body }, { ctx, payer, now }) {
    if (body.category === 'not_delivered') await lookAtClock(ctx, now)
    const by = { place: atJob(params), buyer: payer, complaint: body, at: now }
    await ctx.store.read((t) => checkDispute(t, by))
  },

  async fulfil(t, draw, { input, payer, payment, source, now }) {
    const job = await disputeAt(t, draw, { place: atJob(input.params), buyer: payer, complaint: input.body, at: now })
    return {
      kind: 'fixed_price_call',
      ref: { kind: 'job', id: job.id },
      legs: legsOf.fixedPriceCall({ source, price: payment.price }),
      answer: jobSummary(job),
    }
  },
}

export const jobActionRoutes: Handlers<typeof jobActionsApi> = { verifyJob, disputeJob, updateJob }
