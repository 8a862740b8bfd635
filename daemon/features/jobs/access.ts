import { AppError } from '../../../src/core/error.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { PartyRole } from '../../../src/model/words.ts'
import type { SignedIn, TokenBearer } from '../../endpoint/handler.ts'
import { hashSecret } from '../../kernel/identity.ts'
import { sideOf } from '../../kernel/parties.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import type { ThreadRow } from '../threads/rows.ts'
import { type JobRow, jobs } from './rows.ts'

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
