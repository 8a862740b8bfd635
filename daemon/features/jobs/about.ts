import type { z } from 'zod'
import type { EventAbout } from '../../../src/api/sections/admin.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { workingJobStatuses } from '../../../src/model/job.ts'
import { participantNamed } from '../../kernel/participant.ts'
import type { ReadTx } from '../../store/port.ts'
import type { JobRow } from './rows.ts'

export type About = z.output<typeof EventAbout>

/** Who bought what of whom, by their names. */
export async function aboutJob(t: ReadTx, job: JobRow): Promise<About> {
  return {
    service: job.service_name,
    buyer: await nameOf(t, job.buyer_wallet),
    provider: await nameOf(t, job.provider_id),
    amount: job.amount,
    method: job.payment_method,
  }
}

/** What somebody is called; who is not registered has a wallet alone. */
export async function nameOf(t: ReadTx, who: string | Wallet): Promise<string> {
  return (await participantNamed(t, who))?.name || who
}

/** At work past its deadline, or past the time that was promised. */
export function isLate({ status, created_at, estimate_ms, deadline_at }: JobRow, now: number): boolean {
  if (!workingJobStatuses.some((working) => working === status)) return false
  const promised = estimate_ms === null ? Number.POSITIVE_INFINITY : created_at + estimate_ms
  return Math.min(promised, deadline_at ?? Number.POSITIVE_INFINITY) < now
}
