import type { api } from '../../src/api/index.ts'
import { AppError, notFound } from '../../src/core/error.ts'
import type { Wallet } from '../../src/core/hex.ts'
import { DAY_MS } from '../../src/core/time.ts'
import type { JobRow } from '../../src/model/job.ts'
import type { PaidHandler } from '../handler.ts'
import { hashSecret } from '../hash-secret.ts'
import { jobView, strangersView } from '../job-view.ts'
import { postings } from '../rules/books.ts'
import { jobs } from '../store/collections.ts'

/** An anonymous buyer's token is good until this long after the job ended (decisions §3). */
const ACCESS_TOKEN_LIFE_MS = 30 * DAY_MS

export const getJob: PaidHandler<typeof api.getJob> = {
  async free({ params }, { world, caller, now }) {
    const job = await world.store.table(jobs).get(params.id)
    if (!job) throw notFound('The job')
    if ('token' in caller) {
      if (!opens(job, caller.token, now)) throw new AppError('unauthorized', 'The token is not good for this job.')
      return jobView(job)
    }
    return caller.id === job.provider_id || isBuyer(job, caller.wallet) ? jobView(job) : undefined
  },

  async check({ params }, { world }) {
    if (!(await world.store.table(jobs).get(params.id))) throw notFound('The job')
  },

  async effect(t, _draw, { input, payer, source, payment }) {
    const job = await t.table(jobs).get(input.params.id)
    if (!job) throw notFound('The job')
    const isParty = isBuyer(job, payer.wallet) || payer.participant?.id === job.provider_id
    return {
      kind: 'fixed_price_call',
      ref: { kind: 'job', id: job.id },
      legs: postings.fixedPriceCall({ source, price: payment.price }),
      answer: isParty ? jobView(job) : strangersView(job),
    }
  },
}

function isBuyer(job: JobRow, wallet: Wallet): boolean {
  return job.buyer_wallet === wallet
}

function opens(job: JobRow, token: string, now: number): boolean {
  const ended = job.completed_at
  if (ended !== null && now > ended + ACCESS_TOKEN_LIFE_MS) return false
  return job.access_token_hash !== null && hashSecret(token) === job.access_token_hash
}
