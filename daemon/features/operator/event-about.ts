import type { EventRow } from '../../events/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { jobs } from '../jobs/rows.ts'
import { type About, aboutJob, nameOf } from '../jobs/view.ts'
import { services } from '../listings/rows.ts'
import { payouts } from '../payouts/rows.ts'
import { threads } from '../threads/rows.ts'

const nothing: About = { service: null, buyer: null, provider: null, amount: null, method: null }

/** Current names and amounts for an event, because the log itself only has ids. */
export async function aboutOf(
  t: ReadTx,
  { subject_kind: kind, subject_id: id, participant_id }: EventRow,
): Promise<About> {
  if (kind === 'job') {
    const job = await t.table(jobs).get(id)
    return job ? aboutJob(t, job) : nothing
  }
  if (kind === 'thread') return aboutThread(t, id)
  if (kind === 'payout') {
    const payout = await t.table(payouts).get(id)
    return payout ? { ...nothing, buyer: await nameOf(t, payout.wallet) } : nothing
  }
  const whose = kind === 'participant' ? id : participant_id
  const owner = whose === null ? null : await nameOf(t, whose)
  if (kind !== 'service') return { ...nothing, buyer: owner }
  return { ...nothing, service: (await t.table(services).get(id))?.name ?? null, provider: owner }
}

export async function aboutThread(t: ReadTx, id: string): Promise<About> {
  const thread = await t.table(threads).get(id)
  if (!thread) return nothing
  return {
    ...nothing,
    service: (await t.table(services).get(thread.service_id))?.name ?? null,
    buyer: await nameOf(t, thread.buyer_wallet),
    provider: await nameOf(t, thread.provider_id),
    amount: thread.proposal?.agent_price ?? null,
  }
}
