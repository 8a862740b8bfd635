import type { JobRow } from '../../src/model/job.ts'
import type { ParticipantRow } from '../../src/model/participant.ts'
import type { ThreadRow } from '../../src/model/thread.ts'
import { inBackground } from '../background.ts'
import type { Payer } from '../handler.ts'
import { runPayouts } from '../payouts.ts'
import { type JobEvent, jobMachine } from '../rules/job-machine.ts'
import { transition } from '../rules/machine.ts'
import { commit, type Draw } from '../store/draw.ts'
import type { ReadTx, Tx } from '../store/port.ts'
import { refuseForeignEvidence } from '../thread-files.ts'
import type { World } from '../world.ts'
import { holdJob } from './apply.ts'
import { type Complaint, disputeEffect, disputeJob, type Opinion, verifyAndRelease, verifyByBuyer } from './buyer.ts'
import { type Asked, jobAt, type Place, refuseUnlessBuyer, refuseUnlessProvider } from './place.ts'
import { escrowPausedAt, refuseEscrowPaused } from './release.ts'
import { applyReport, checkReport, type Report, reportEvents } from './report.ts'

/* What the parties do to a job, at the job or at its conversation. The `check…` ones refuse before a charge. */

type ByBuyer = { readonly place: Place; readonly buyer: Pick<Payer, 'wallet'> }

/** Verified at the job, it is paid at once; verified in the conversation, by the next run of the escrow monitor. */
export async function checkVerify(t: ReadTx, { place, buyer }: ByBuyer): Promise<JobRow> {
  const job = await jobAt(t, place, byBuyer('verify', buyer))
  refuseUnlessBuyer(job, buyer)
  if (place.kind === 'job' && job.status === 'verified') refuseEscrowPaused(await escrowPausedAt(t))
  else transition(jobMachine, { event: 'verify', from: job.status, by: 'buyer' })
  return job
}

function byBuyer(event: JobEvent, { wallet }: Pick<Payer, 'wallet'>): Asked {
  return { event, by: 'buyer', isTheirs: (thread) => thread.buyer_wallet === wallet }
}

type Verifying = ByBuyer & { readonly opinion: Opinion; readonly at: number }

export async function verifyAt(t: Tx, draw: Draw, { opinion, at, ...by }: Verifying): Promise<JobRow> {
  const { id } = await checkVerify(t, by)
  const verified = { job: await held(t, id), opinion, at }
  return by.place.kind === 'job' ? verifyAndRelease(t, draw, verified) : verifyByBuyer(t, draw, verified)
}

export async function checkDispute(t: ReadTx, { place, buyer, complaint, at }: Disputing): Promise<JobRow> {
  const job = await jobAt(t, place, byBuyer('dispute', buyer))
  refuseUnlessBuyer(job, buyer)
  disputeEffect(job, at)
  await refuseForeignEvidence(t, job.thread_id, complaint.evidence)
  return job
}

type Disputing = ByBuyer & { readonly complaint: Complaint; readonly at: number }

export async function disputeAt(t: Tx, draw: Draw, disputing: Disputing): Promise<JobRow> {
  const { id } = await checkDispute(t, disputing)
  const { complaint, at } = disputing
  return disputeJob(t, draw, { job: await held(t, id), complaint, at })
}

type Reporting = {
  readonly place: Place
  readonly provider: ParticipantRow
  readonly report: Report
  readonly now: number
}

/** What a provider says of its job. A deliverable is checked before the transaction, which may be short then. */
export async function reportAt(world: World, { place, provider, report, now }: Reporting): Promise<JobRow> {
  const isTheirs = ({ provider_id }: ThreadRow) => provider_id === provider.id
  const asked = { event: reportEvents[report.status], by: 'provider', isTheirs } as const
  const seen = await world.store.read((t) => jobAt(t, place, asked))
  refuseUnlessProvider(seen, provider)
  const items = await checkReport(world.schemas, seen, report)
  const job = await commit(world, async (t, draw) =>
    applyReport(t, draw, { job: await held(t, seen.id), report, items, at: now }),
  )
  sendRefunds(world, job)
  return job
}

async function held(t: Tx, id: string): Promise<JobRow> {
  return (await holdJob(t, id)) as JobRow // found just now, and jobs stay
}

/** A refund to a wallet leaves at once, after what made it due is durable; what fails is taken up by auto-refund. */
export function sendRefunds(world: World, job: JobRow): void {
  const isDue = job.payment_method === 'x402' && (job.escrow_status === 'refunded' || job.escrow_status === 'split')
  if (isDue) inBackground(world, 'payouts', () => runPayouts(world))
}
