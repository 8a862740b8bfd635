import type { jobsApi } from '../../../src/api/sections/jobs.ts'
import { AppError, existing, notFound } from '../../../src/core/error.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { PartyRole } from '../../../src/model/words.ts'
import type { SignedIn, TokenBearer } from '../../endpoint/handler.ts'
import { hashSecret } from '../../kernel/identity.ts'
import { notYours, ownRows, sideOf } from '../../kernel/parties.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { ReadTx } from '../../store/port.ts'
import { fixedFee, type Handlers } from '../payments/seller.ts'
import { addMessage, messageView, readMessages, refuseClosed } from '../threads/messages.ts'
import { type ThreadRow, threads } from '../threads/rows.ts'
import { type JobRow, jobParties, jobs } from './rows.ts'
import { jobSummary, jobView, placeOf, strangersView } from './view.ts'

export const jobRoutes: Handlers<typeof jobsApi> = {
  getJob: {
    async free({ params }, { ctx, caller, now }) {
      const job = existing(await ctx.store.table(jobs).get(params.id), 'The job')
      return jobSideOf(job, caller, now) ? jobView(placeOf(ctx), job) : undefined
    },

    async check({ params }, { ctx }) {
      if (!(await ctx.store.table(jobs).get(params.id))) throw notFound('The job')
    },

    async fulfil(t, draw, { input, payer, source, payment }) {
      const job = existing(await t.table(jobs).get(input.params.id), 'The job')
      const isParty = sideOf(job, { wallet: payer.wallet, id: payer.participant?.id ?? '' }) !== undefined
      return fixedFee(
        { payment, source },
        { kind: 'job', id: job.id },
        isParty ? await jobView({ table: t.table, text: draw.text }, job) : strangersView(job),
      )
    },
  },

  listJobs: async ({ query }, { ctx, caller }) => {
    const own = { ...query, wallet: caller.wallet }
    const { rows, ...page } = await ctx.store.read((t) => ownRows(t, { parties: jobParties, rows: jobs }, own))
    return { jobs: rows.map(jobSummary), ...page }
  },

  getJobMessages: async ({ params, query }, { ctx, caller, now }) =>
    ctx.store.read(async (t) => {
      const { job, thread } = await conversationOf(t, params.id, { caller, now })
      return { job_id: job.id, thread_id: thread.id, ...(await readMessages(t, thread, query)) }
    }),

  postJobMessage: async ({ params, body }, { ctx, caller, now }) =>
    commit(ctx, async (t, draw) => {
      const { thread: seen, side } = await conversationOf(t, params.id, { caller, now })
      const thread = existing(await t.table(threads).getForUpdate(seen.id), 'The thread')
      refuseClosed(thread)
      const said = { author_role: side, type: 'message' as const, body: body.message, now }
      return messageView((await addMessage(t, draw, { thread, message: said })).message)
    }),
}

type Asker = { readonly caller: ParticipantRow | TokenBearer; readonly now: number }
/**
 * A job's conversation, for its parties.
 * @throws AppError 404 for an unknown job, 401 for a wrong token, 403 for any other caller
 */
async function conversationOf(t: ReadTx, jobId: string, { caller, now }: Asker) {
  const job = existing(await t.table(jobs).get(jobId), 'The job')
  const side = jobSideOf(job, caller, now)
  if (!side) throw notYours('The job')
  const thread = await t.table(threads).get(job.thread_id)
  if (!thread) throw new Error(`${job.id} has no thread`)
  return { job, thread, side }
}

/** How long an anonymous buyer's access token stays valid after its job has ended (decisions §3). */
const ACCESS_TOKEN_LIFE_MS = 30 * DAY_MS

type Caller = ParticipantRow | TokenBearer | SignedIn

/** The caller's side of a job, if any. The job's token makes it the buyer. @throws AppError 401 on a wrong token */
export function jobSideOf(job: JobRow, caller: Caller, now: number): PartyRole | undefined {
  if (!('token' in caller)) return sideOf(job, caller)
  if (!opens(job, caller.token, now)) throw wrongToken('job')
  return 'buyer'
}

/**
 * The caller's side of a conversation, if any. A token must belong to the conversation's job.
 * @throws AppError 401 for any other token
 */
export async function threadSideOf(
  t: ReadTx,
  thread: ThreadRow,
  { caller, now }: { readonly caller: ParticipantRow | TokenBearer; readonly now: number },
): Promise<PartyRole | undefined> {
  if (!('token' in caller)) return sideOf(thread, caller)
  const job = thread.job_id === null ? undefined : await t.table(jobs).get(thread.job_id)
  if (!job) throw wrongToken('conversation')
  return jobSideOf(job, caller, now)
}

function opens(job: JobRow, token: string, now: number): boolean {
  const ended = job.ended_at
  if (ended !== null && now > ended + ACCESS_TOKEN_LIFE_MS) return false
  return job.access_token_hash !== null && hashSecret(token) === job.access_token_hash
}

function wrongToken(what: string): AppError {
  return new AppError('unauthorized', `The token is not valid for this ${what}.`)
}
