import { MINUTE_MS } from '../../src/core/time.ts'
import { dailyAt } from '../rules/schedule.ts'
import { takeSnapshot } from '../watch.ts'
import { defineCron } from './cron.ts'

const SNAPSHOT_HOUR = 2
export const snapshotSchedule = dailyAt(SNAPSHOT_HOUR)

/** What `GET /v1/stats/watching` shows (decisions §12): no key of `/health.crons`. */
export const statsSnapshot = defineCron({
  name: 'stats-snapshot',
  schedule: snapshotSchedule,
  deadlineMs: 10 * MINUTE_MS,
  inHealth: false,
  async run({ world, now, signal }) {
    await world.watch.save()
    await takeSnapshot({ store: world.store, now, signal })
    return undefined
  },
})
