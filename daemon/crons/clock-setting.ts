import { z } from 'zod'
import { settings } from '../kernel/rows.ts'
import type { ReadTx, Tx } from '../store/port.ts'

const CLOCK = 'clock'

/** How business time was moved, kept so that a restart goes on from there. */
const ClockSetting = z.strictObject({ offset_ms: z.int(), frozen_at: z.int().nullable() })
export type ClockSetting = z.infer<typeof ClockSetting>

export async function readClockSetting(t: ReadTx): Promise<ClockSetting | undefined> {
  const row = await t.table(settings).get(CLOCK)
  return row && ClockSetting.parse(row.value)
}

export async function writeClockSetting(t: Tx, setting: ClockSetting): Promise<void> {
  const table = t.table(settings)
  await table.getForUpdate(CLOCK)
  await table.put({ id: CLOCK, value: setting })
}
