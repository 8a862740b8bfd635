import type { Entropy } from '../../src/core/hex.ts'
import { SECOND_MS } from '../../src/core/time.ts'
import { type CronRun, MAX_CRON_RUNS } from '../../src/model/delivery.ts'
import { commit, type Draw } from '../store/draw.ts'
import type { Draft, Store, Tx } from '../store/port.ts'
import type { Cron } from './cron.ts'
import { type CronRow, crons as cronRows } from './rows.ts'

/** A cron is stale after this many intervals without a successful or skipped run. */
const STALE_INTERVALS = 3

/** `/health.crons[name]`. */
export type CronHealth = {
  readonly last_success: number | null
  readonly last_skipped: number | null
  readonly last_failure: number | null
  readonly age_seconds: number | null
  readonly stale: boolean
  readonly skip_reason?: string
}

export function healthOf(cron: Cron, row: CronRow, now: number): CronHealth {
  const { last_success, last_skipped, last_failure, skip_reason, created_at } = row
  return {
    last_success,
    last_skipped,
    last_failure,
    age_seconds: last_success === null ? null : Math.max(0, Math.floor((now - last_success) / SECOND_MS)),
    stale:
      now - Math.max(created_at, last_success ?? 0, last_skipped ?? 0) > STALE_INTERVALS * cron.schedule.intervalMs,
    ...(skip_reason === null ? {} : { skip_reason }),
  }
}

/** Rows of all crons, cached in memory, because only the scheduler writes them. */
export type CronStates = {
  readonly of: (name: string) => CronRow
  readonly record: (name: string, run: CronRun) => Promise<void>
  /** Changes a row. `also` runs in the same transaction. */
  readonly change: (name: string, patch: Partial<CronRow>, also: (t: Tx, draw: Draw) => Promise<void>) => Promise<void>
}

type Parts = {
  readonly store: Store
  readonly entropy: Entropy
  readonly names: readonly string[]
  readonly now: number
}

/** Reads the rows and creates one for each new cron. Resets a `served_until` in the future (the clock was ahead). */
export async function openCronState({ store, entropy, names, now }: Parts): Promise<CronStates> {
  const rows = new Map<string, CronRow>()
  await write(async (t) => {
    for (const name of names) {
      const row = await rowOf(t, name, now)
      const isAhead = row.served_until > now
      rows.set(name, isAhead ? await t.table(cronRows).put({ ...row, served_until: now }) : row)
    }
  })

  function write<T>(body: (t: Tx, draw: Draw) => Promise<T>): Promise<T> {
    return commit({ store, entropy }, body)
  }

  async function update(t: Tx, name: string, patch: (row: CronRow) => Partial<CronRow>): Promise<CronRow> {
    const row = await rowOf(t, name, now)
    return t.table(cronRows).put({ ...row, ...patch(row) })
  }

  return {
    of: (name) => rows.get(name) as CronRow, // opened with every name
    async record(name, run) {
      rows.set(name, await write((t) => update(t, name, (row) => after(row, run))))
    },
    async change(name, patch, also) {
      const row = await write(async (t, draw) => {
        await also(t, draw)
        return update(t, name, () => patch)
      })
      rows.set(name, row)
    },
  }
}

async function rowOf(t: Tx, name: string, now: number): Promise<CronRow> {
  const table = t.table(cronRows)
  return (await table.getForUpdate(name)) ?? (await table.insert(fresh(name, now)))
}

function fresh(name: string, now: number): Draft<CronRow> {
  return {
    id: name,
    created_at: now,
    paused_at: null,
    served_until: now,
    last_success: null,
    last_skipped: null,
    last_failure: null,
    skip_reason: null,
    runs: [],
  }
}

/** The row's new members after a run. The run also counts for all earlier scheduled times. */
function after(row: CronRow, run: CronRun): Partial<CronRow> {
  return {
    served_until: Math.max(row.served_until, run.at),
    last_success: run.result === 'success' ? run.at : row.last_success,
    last_skipped: run.result === 'skipped' ? run.at : row.last_skipped,
    last_failure: run.result === 'failed' ? run.at : row.last_failure,
    skip_reason: run.result === 'skipped' ? run.reason : null,
    runs: [run, ...row.runs].slice(0, MAX_CRON_RUNS),
  }
}
