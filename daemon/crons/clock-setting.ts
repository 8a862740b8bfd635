import { z } from 'zod'
import { settings } from '../kernel/rows.ts'
import type { ClockSetting } from '../ports/clock.ts'
import type { ReadTx, Tx } from '../store/port.ts'

const CLOCK = 'clock'

/** How business time was moved, kept so that a restart goes on from there. */
const StoredSetting = z.strictObject({
  offset_ms: z.int(),
  frozen_at: z.int().nullable(),
}) satisfies z.ZodType<ClockSetting>

export async function readClockSetting(t: ReadTx): Promise<ClockSetting | undefined> {
  const row = await t.table(settings).get(CLOCK)
  return row && StoredSetting.parse(row.value)
}

export async function writeClockSetting(t: Tx, setting: ClockSetting): Promise<void> {
  const table = t.table(settings)
  await table.getForUpdate(CLOCK)
  await table.put({ id: CLOCK, value: setting })
}
