import { z } from 'zod'
import type { Session } from '../../src/cli/session.ts'

const When = z.string().nullable()
const Cron = z.object({
  last_success: When,
  last_skipped: When.optional(),
  last_failure: When,
  age_seconds: z.number().nullable(),
  stale: z.boolean(),
  skip_reason: z.string().nullable().optional(),
})

/** What the command line reads of `/health`; anything else there passes through untouched. */
export const Health = z.looseObject({
  status: z.string(),
  paused: z.boolean(),
  paused_at: When.optional(),
  checkout_v2: z.boolean(),
  network: z.string(),
  chain: z.looseObject({ mode: z.string() }).optional(),
  timestamp: z.number(),
  crons: z.record(z.string(), Cron),
  endpoints: z.array(
    z.object({ path: z.string(), method: z.string(), price: z.string(), description: z.string(), status: z.string() }),
  ),
})
export type Health = z.output<typeof Health>
export type Cron = z.output<typeof Cron>
export type CronState = 'ok' | 'stale' | 'failing' | 'skipped' | 'waiting'

export async function readHealth(session: Session): Promise<Health> {
  return Health.parse((await session.call({ method: 'GET', path: '/health' })).body)
}

/** How a cron is doing, from the times of its last runs. */
export function cronState(cron: Cron): CronState {
  const at = (time: string | null | undefined) => (time ? Date.parse(time) : 0)
  const last = Math.max(at(cron.last_success), at(cron.last_skipped))
  if (at(cron.last_failure) > last) return 'failing'
  if (cron.stale) return 'stale'
  if (last === 0) return 'waiting'
  return at(cron.last_skipped) > at(cron.last_success) ? 'skipped' : 'ok'
}

export type Brief = {
  platform: { paused: boolean; paused_at: string | null; checkout_v2: boolean; network: string; chain: string | null }
  crons: { ok: string[]; stale: string[]; failing: string[] }
}

export function briefOf(health: Health): Brief {
  const named = (...states: CronState[]) =>
    Object.entries(health.crons).flatMap(([name, cron]) => (states.includes(cronState(cron)) ? [name] : []))
  return {
    platform: {
      paused: health.paused,
      paused_at: health.paused_at ?? null,
      checkout_v2: health.checkout_v2,
      network: health.network,
      chain: health.chain?.mode ?? null,
    },
    crons: { ok: named('ok', 'skipped', 'waiting'), stale: named('stale'), failing: named('failing') },
  }
}
