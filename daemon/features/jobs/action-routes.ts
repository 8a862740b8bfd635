import type { PaidEndpoint } from '../../../src/api/endpoint/define.ts'
import type { jobActionsApi } from '../../../src/api/sections/job-actions.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { refuseForeignProof } from '../payments/proofs.ts'
import { type Fulfilment, fixedFee, type Handlers, type PayCall } from '../payments/seller.ts'
import { checkDispute, checkVerify, disputeAt, type JobPlace, noticeOfDispute, reportAt, verifyAt } from './acts.ts'
import type { Opinion } from './buyer.ts'
import type { Complaint } from './dispute.ts'
import { watchTime } from './downtime.ts'
import { reportOf } from './report.ts'
import type { JobRow } from './rows.ts'
import { jobSummary } from './view.ts'

type Done = { readonly job: JobRow; readonly now: number }

/** How a buyer's action, sent to a job or to a conversation, finds its job, and what the response shows. */
export type ActedAt<A> = {
  readonly placeOf: (params: { readonly id: string }) => JobPlace
  readonly show: (t: ReadTx, done: Done) => A | Promise<A>
}

type ActionRequest<B> = { readonly params: { readonly id: string }; readonly body: B }
type Paid<B> = Omit<Fulfilment<PaidEndpoint>, 'input'> & { readonly input: ActionRequest<B> }

async function feeFor<A>(
  t: Tx,
  { payment, source, now }: Paid<unknown>,
  done: { job: JobRow; show: ActedAt<A>['show'] },
) {
  return fixedFee({ payment, source }, { kind: 'job', id: done.job.id }, await done.show(t, { job: done.job, now }))
}

export const verifying = <A>({ placeOf, show }: ActedAt<A>) => ({
  async check({ params }: ActionRequest<Opinion>, { ctx, payer, now }: PayCall) {
    await ctx.store.read((t) => checkVerify(t, { place: placeOf(params), buyer: payer, at: now }))
  },

  async fulfil(t: Tx, draw: Draw, paid: Paid<Opinion>) {
    const { input, payer, now } = paid
    const by = { place: placeOf(input.params), buyer: payer, opinion: input.body, at: now }
    return feeFor(t, paid, { job: await verifyAt(t, draw, by), show })
  },
})

export const disputing = <A>({ placeOf, show }: ActedAt<A>) => ({
  notice: ({ params }: Pick<ActionRequest<Complaint>, 'params'>, { ctx, now }: Pick<PayCall, 'ctx' | 'now'>) =>
    ctx.store.read((t) => noticeOfDispute(t, { place: placeOf(params), at: now })),

  async check({ params, body }: ActionRequest<Complaint>, { ctx, payer, now }: PayCall) {
    if (body.category === 'not_delivered') await watchTime(ctx, { now })
    const by = { place: placeOf(params), buyer: payer, complaint: body, at: now }
    const { payment_id: paid } = await ctx.store.read((t) => checkDispute(t, by))
    await refuseForeignProof(ctx, paid, body.proof)
  },

  async fulfil(t: Tx, draw: Draw, paid: Paid<Complaint>) {
    const { input, payer, now } = paid
    const by = { place: placeOf(input.params), buyer: payer, complaint: input.body, at: now }
    return feeFor(t, paid, { job: await disputeAt(t, draw, by), show })
  },
})

const atJob = {
  placeOf: ({ id }: { readonly id: string }) => ({ kind: 'job', id }) as const,
  show: (_: ReadTx, { job }: Done) => jobSummary(job),
}

export const jobActionRoutes: Handlers<typeof jobActionsApi> = {
  verifyJob: verifying(atJob),
  disputeJob: disputing(atJob),

  updateJob: async ({ params, body }, { ctx, caller, now }) =>
    jobSummary(await reportAt(ctx, { place: atJob.placeOf(params), provider: caller, report: reportOf(body), now })),
}
