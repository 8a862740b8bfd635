import type { Link, Outcome } from '../../client/link.ts'
import { MAX_PAGE } from '../../core/limits.ts'
import type { PartyRole } from '../../model/words.ts'
import type { Job } from '../../nouns/jobs.ts'
import { count } from '../../text/text.ts'
import { ask } from '../shell/queries.ts'

/** A party's newest jobs, and how many it has in all. */
export type Past = { readonly jobs: readonly Job[]; readonly total: number }

type Party = { readonly participant: string; readonly role: PartyRole; readonly signal: AbortSignal }

/** Fetches what a party did. @param participant - id or wallet */
export function fetchPast(link: Link, { participant, role, signal }: Party): Promise<Outcome<Past>> {
  const query = { participant, role, limit: String(MAX_PAGE) }
  return ask(link, { name: 'listAllJobs', asked: { query, signal } }, ({ jobs, total }) => ({ jobs, total }))
}

/** A party's disputes and refunds: `2 of 41 jobs disputed, 1 refunded`. Only the newest jobs are counted. */
export function pastWords({ jobs, total }: Past): string {
  if (total === 0) return 'no jobs'
  const disputed = jobs.filter(({ dispute }) => dispute).length
  const refunded = jobs.filter(({ status }) => status === 'refunded').length
  const among = total > jobs.length ? `the last ${count(jobs.length)} of ${count(total)}` : count(total)
  return `${count(disputed)} of ${among} jobs disputed, ${count(refunded)} refunded`
}
