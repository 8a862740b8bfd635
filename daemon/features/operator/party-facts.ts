import { jobFields, threadFields } from '../../../src/api/endpoint/list-fields.ts'
import { participantNamed } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { openByDue, worstFirst } from '../jobs/order/by-due.ts'
import { type JobRow, jobParties, jobs } from '../jobs/rows.ts'
import { isLate } from '../jobs/view.ts'
import { services } from '../listings/rows.ts'
import { type ThreadRow, threadParties, threads } from '../threads/rows.ts'
import type { OfParties } from './party-page.ts'

/** @param now business time */
export function jobList(t: ReadTx, now: number): OfParties<JobRow, typeof jobFields> {
  const nameOf = names(t)
  return {
    rows: jobs,
    parties: jobParties,
    fields: jobFields,
    openIndex: 'service_open',
    worst: { compare: worstFirst(now), isOpen: ({ ended_at }) => ended_at === null, open: openByDue },
    factsOf: async (job, uses) => ({
      id: job.id,
      status: job.status,
      service: [job.service_name, job.service_id],
      buyer: uses('buyer') ? whoOf(await nameOf(job.buyer_wallet), job.buyer_wallet, job.buyer_id) : null,
      provider: uses('provider') ? whoOf(await nameOf(job.provider_id), job.provider_id) : null,
      amount: job.amount,
      age: job.created_at,
      late: isLate(job, now),
      open: job.ended_at === null,
      paid_by: job.payment_method,
    }),
  }
}

export function threadList(t: ReadTx): OfParties<ThreadRow, typeof threadFields> {
  const nameOf = names(t)
  const listingOf = remembered(async (id) => (await t.table(services).get(id))?.name ?? '')
  return {
    rows: threads,
    parties: threadParties,
    fields: threadFields,
    factsOf: async (thread, uses) => ({
      id: thread.id,
      status: thread.status,
      service: uses('service') ? whoOf(await listingOf(thread.service_id), thread.service_id) : null,
      buyer: uses('buyer') ? whoOf(await nameOf(thread.buyer_wallet), thread.buyer_wallet, thread.agent_id) : null,
      provider: uses('provider') ? whoOf(await nameOf(thread.provider_id), thread.provider_id) : null,
      amount: thread.proposal?.agent_price ?? null,
      age: thread.updated_at,
    }),
  }
}

function whoOf(name: string, ...ids: readonly (string | null)[]): readonly string[] {
  return [name, ...ids].flatMap((word) => (word === null || word === '' ? [] : [word]))
}

function names(t: ReadTx): (who: string) => Promise<string> {
  return remembered(async (who) => (await participantNamed(t, who))?.name ?? '')
}

function remembered(find: (id: string) => Promise<string>): (id: string) => Promise<string> {
  const known = new Map<string, string>()
  return async (id) => {
    const found = known.get(id) ?? (await find(id))
    known.set(id, found)
    return found
  }
}
