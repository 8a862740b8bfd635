import { MINUTE_MS } from '../../../src/core/time.ts'
import { defineCron } from '../../crons/cron.ts'
import { dailyAt } from '../../crons/schedule.ts'
import { refreshSdn } from './refresh.ts'

const REFRESH_HOUR = 3

/** Holds the sanctions list of today, or keeps the last good one and says why (decisions §12). */
export const ofacSdnRefresh = defineCron({
  name: 'ofac-sdn-refresh',
  schedule: dailyAt(REFRESH_HOUR),
  deadlineMs: 15 * MINUTE_MS,
  inHealth: true,
  async run({ ctx, now, signal }) {
    await refreshSdn({ ...ctx, now, signal })
    return undefined
  },
})
