import { MINUTE_MS } from '../../../src/core/time.ts'
import { defineCron } from '../../crons/cron.ts'
import { snapshotSchedule, takeSnapshot, viewCounts } from './routes.ts'

/** Takes the snapshot that `GET /v1/stats/watching` shows (decisions §12); not listed in `/health.crons`. */
export const statsSnapshot = defineCron({
  name: 'stats-snapshot',
  schedule: snapshotSchedule,
  deadlineMs: 10 * MINUTE_MS,
  inHealth: false,
  async run({ ctx, now, signal }) {
    await viewCounts.of(ctx).save()
    await takeSnapshot({ store: ctx.store, now, signal })
    return undefined
  },
})
