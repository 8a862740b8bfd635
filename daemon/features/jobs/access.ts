import { AppError } from '../../../src/core/error.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { JobRow } from '../../../src/model/job.ts'
import type { ParticipantRow } from '../../../src/model/participant.ts'
import type { PartyRole } from '../../../src/model/party.ts'
import type { ThreadRow } from '../../../src/model/thread.ts'
import type { SignedIn, TokenBearer } from '../../endpoint/handler.ts'
import { hashSecret } from '../../kernel/hash-secret.ts'
import { jobs } from '../../store/collections.ts'
import type { ReadTx } from '../../store/port.ts'

/** An anonymous buyer's token is good until this long after the job ended (decisions §3). */
const ACCESS_TOKEN_LIFE_MS = 30 * DAY_MS

/** Which side of a job or conversation a participant is; ownership of the buyer's side is by wallet. */
export function sideOf(
  subject: Pick<JobRow | ThreadRow, 'buyer_wallet' | 'provider_id'>,
  participant: Pick<ParticipantRow, 'wallet'> & { readonly id: string | null },
): PartyRole | undefined {
  if (participant.id === subject.provider_id) return 'provider'
  return participant.wallet === subject.buyer_wallet ? 'buyer' : undefined
}

type Caller = ParticipantRow | TokenBearer | SignedIn

/** Which side of a job a caller is: the bearer of its token is its buyer. @throws AppError 401 on another token. */
export function jobSideOf(job: JobRow, caller: Caller, now: number): PartyRole | undefined {
  if (!('token' in caller)) return sideOf(job, caller)
  if (!opens(job, caller.token, now)) throw wrongToken('job')
  return 'buyer'
}

/** The same of a conversation: a token is of the job that came of it. @throws AppError 401 on another token. */
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
  return new AppError('unauthorized', `The token is not good for this ${what}.`)
}

export function notYours(what: string): AppError {
  return new AppError('forbidden', `${what} belongs to others.`)
}
