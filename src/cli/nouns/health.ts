import type { WireAnswer } from '../../api/index.ts'
import { isObject } from '../../core/json.ts'
import { type CronCondition, stateOfRuns } from '../../model/state-words.ts'
import { CliError } from '../exit.ts'
import type { Session } from '../session.ts'

export type HealthAnswer = WireAnswer<'getHealth'>
export type HealthCron = HealthAnswer['crons'][string]

/** Reads `/health`. @throws CliError failure if the server is no marketplace, or has an incompatible version */
export async function readHealth(session: Session): Promise<HealthAnswer> {
  const health = await session.call('getHealth', {})
  const { crons, chain, endpoints }: Partial<HealthAnswer> = isObject(health) ? health : {}
  if (isObject(crons) && isObject(chain) && Array.isArray(endpoints)) return health
  throw new CliError('failure', `${session.target.url} returned a health report that this version of souk cannot read.`)
}

export type Brief = {
  platform: { paused: boolean; paused_at: string | null; checkout_v2: boolean; network: string; chain: string }
  /** `waiting`: the cron has not run yet. */
  crons: { ok: string[]; waiting: string[]; stale: string[]; failing: string[] }
  /** Null if the daemon is too old to report this. */
  store: { writes: 'accepted' | 'refused'; note: string | null } | null
}

export function briefOf(health: HealthAnswer): Brief {
  const named = (...states: CronCondition[]) =>
    Object.entries(health.crons).flatMap(([name, cron]) => (states.includes(stateOfRuns(cron)) ? [name] : []))
  return {
    platform: {
      paused: health.paused,
      paused_at: health.paused_at,
      checkout_v2: health.checkout_v2,
      network: health.network,
      chain: health.chain.mode,
    },
    store: health.store ? { writes: health.store.writes, note: health.store.note } : null,
    crons: { ok: named('ok', 'skipped'), waiting: named('waiting'), stale: named('stale'), failing: named('failing') },
  }
}
