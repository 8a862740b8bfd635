import type { WireAnswer } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { buyerOf, type Job, providerOf, serviceOf } from '../../nouns/jobs.ts'
import { safe } from '../../text/text.ts'
import { ask, type glance } from '../shell/queries.ts'
import { text } from '../shell/read.ts'

/** A job's displayed fields, sanitised for a terminal; amounts like `$0.525`. */
export function shownJob(job: Job) {
  const { amount, fee, provider_amount, payment } = job
  return {
    service: safe(serviceOf(job)),
    buyer: safe(buyerOf(job)),
    provider: safe(providerOf(job)),
    amount: money(amount),
    fee: money(fee),
    providerAmount: money(provider_amount),
    paidBy: text(payment?.method),
  }
}

/** `$0.525` of an amount. */
export function money(amount = ''): string {
  if (amount === '') return ''
  return amount.startsWith('-') ? `-$${amount.slice(1)}` : `$${amount}`
}

const MESSAGES = 100

/** All data of a job that one of its parties can see. With the admin key it includes what a ruling needs. */
export type JobDetail = {
  readonly job: Job
  readonly messages: WireAnswer<'getJobMessages'>['messages']
  readonly bundle?: WireAnswer<'getJobBundle'>
}

/** Fetches all data of a job. Undefined without an id. */
export const fetchJob =
  (link: Link, { id, admin }: { id: string; admin: boolean }, headers?: typeof glance) =>
  async (signal: AbortSignal): Promise<Outcome<JobDetail | undefined>> => {
    if (id === '') return { ok: true, value: undefined }
    const params = { id }
    if (admin) {
      const asked = { params, signal, ...(headers && { headers }) }
      return ask(link, { name: 'getJobBundle', asked }, (bundle) => {
        return { job: bundle.job, messages: bundle.thread.messages ?? [], bundle }
      })
    }
    const query = { limit: String(MESSAGES) }
    const [job, messages] = await Promise.all([
      ask(link, { name: 'getJob', asked: { params, signal } }, (answer) => answer),
      ask(link, { name: 'getJobMessages', asked: { params, query, signal } }, (page) => page.messages),
    ])
    if (!job.ok) return job
    return { ok: true, value: { job: job.value, messages: messages.ok ? messages.value : [] } }
  }
