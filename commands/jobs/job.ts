import type { WireAnswer } from '../../src/api/endpoint.ts'
import type { Api } from '../../src/api/index.ts'
import { pay } from '../../src/cli/paying.ts'
import type { Session, SessionHost } from '../../src/cli/session.ts'

const POLL_MS = 500
const PAYMENT_REQUIRED = 402

/** A job as its parties see it; a paying stranger gets its ids, status and times only. */
export type Job = WireAnswer<Api['getJob']>

/** Reads a job by its own token, the wallet's API key, or a payment of $0.001. */
export async function readJob(host: SessionHost, session: Session, id: string): Promise<Job> {
  const { jobTokenOf } = await import('../../src/client/secrets.ts')
  const token = jobTokenOf(host.places, session.target.instance, id)
  const key = token === undefined ? await session.apiKey() : undefined
  const call = {
    method: 'GET' as const,
    path: `/v1/jobs/${encodeURIComponent(id)}`,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(key === undefined ? {} : { 'x-api-key': key }),
    },
  }
  const free = await session.call({ ...call, accept: [PAYMENT_REQUIRED] })
  if (free.status !== PAYMENT_REQUIRED) return free.body as Job
  return (await pay(host, session, { ...call, idempotencyKey: crypto.randomUUID() })).answer.body as Job
}

const OPEN_STATES = ['created', 'dispatched', 'in_progress']

/** Waits until a job is over. @returns false when the time given to `--wait` ended first. */
export async function waitForJob(host: SessionHost, session: Session, id: string): Promise<boolean> {
  const { globals, io, signal, system } = host
  const limitMs = typeof globals.wait === 'number' ? globals.wait : Number.POSITIVE_INFINITY
  const progress = io.progress(`waiting for ${id}`)
  try {
    for (let waited = 0; ; waited += POLL_MS) {
      const { status } = await readJob(host, session, id)
      if (!OPEN_STATES.includes(status)) return true
      progress.update(`waiting for ${id}: ${status}`)
      if (waited >= limitMs || signal.aborted) return false
      await system.sleep(POLL_MS, signal)
    }
  } finally {
    progress.stop()
  }
}
