import type { WireAnswer } from '../../../api/index.ts'
import type { Asked } from '../../../client/asked.ts'
import { jobStatuses, workingJobStatuses } from '../../../model/job.ts'
import { CliError } from '../../exit.ts'
import { patienceMs } from '../../globals.ts'
import type { Session, SessionHost } from '../../session.ts'
import { pay } from '../../wallet/paying.ts'
import { freeReader } from '../../wallet/signing-in.ts'

const POLL_MS = 500

/** A job as its buyer and provider see it. Anybody else who pays for reading it sees only ids, status and times. */
export type FetchedJob = WireAnswer<'getJob'>

/** Reads a job. This is free with the job's token, the wallet's key or a sign-in; otherwise it costs $0.001. */
export async function readJob(host: SessionHost, session: Session, id: string): Promise<FetchedJob> {
  const asked = await askedAs(host, session, id)
  const free = await freeReader(host, session)('getJob', asked)
  if (free !== undefined) return free
  return (await pay(host, session, { endpoint: 'getJob', asked, idempotencyKey: crypto.randomUUID() })).answer
}

/** The request for a job, with its token or else the wallet's key. */
export async function askedAs({ places }: SessionHost, session: Session, id: string): Promise<Asked<'getJob'>> {
  const { jobTokenOf } = await import('../../../client/secrets.ts')
  const token = jobTokenOf(places, session.target.instance, id)
  const key = token === undefined ? await session.apiKey() : undefined
  return {
    params: { id },
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(key === undefined ? {} : { 'x-api-key': key }),
    },
  }
}

/** Polling never pays. */
export function noFreeRead(id: string): CliError {
  return new CliError('payment', `Reading ${id} would cost money, and this command never pays.`, {
    facts: ['this wallet has no token, API key or sign-in for the job', 'nothing was paid'],
    next: [`souk jobs view ${id}`, 'souk account register'],
  })
}

/** Statuses in which a job has ended. A status that this version does not know counts as running. */
export const overStates: readonly string[] = jobStatuses.filter(
  (status) => !workingJobStatuses.some((working) => working === status),
)

/** How a wait ended; `unreadable` if reading the job again would cost money. */
export type Waited =
  | { readonly end: 'over'; readonly job: FetchedJob }
  | { readonly end: 'pending'; readonly job: FetchedJob }
  | { readonly end: 'unreadable' }

/** Waits for a job within `--wait` or `--timeout`, never paying. */
export async function waitForJob(host: SessionHost, session: Session, id: string): Promise<Waited> {
  const { globals, io, signal, system } = host
  const limitMs = patienceMs(globals)
  const asked = await askedAs(host, session, id)
  const read = freeReader(host, session)
  using progress = io.progress(`waiting for ${id}`)
  for (let waited = 0; ; waited += POLL_MS) {
    const job = await read('getJob', asked)
    if (job === undefined) return { end: 'unreadable' }
    if (overStates.includes(job.status)) return { end: 'over', job }
    progress.update(`waiting for ${id}: ${job.status}`)
    if (waited >= limitMs || signal.aborted) {
      progress.stop()
      io.warn(`! ${id} is still ${job.status} and continues without you: ${io.hint(`souk jobs watch ${id}`)}`)
      return { end: 'pending', job }
    }
    await system.sleep(Math.min(POLL_MS, limitMs - waited), signal)
  }
}
