import { z } from 'zod'
import { settings } from './collections.ts'
import type { ReadTx, Tx } from './port.ts'

const PLATFORM = 'platform'

/** The three independent switches (decisions §12): pause, cutover, per-feature enablement. */
const Platform = z.strictObject({
  /** Business time since when paid activity is paused; null: active. */
  paused_at: z.int().nullable(),
  checkout_v2: z.boolean(),
  /** Switched-off rows that were enabled. */
  enabled: z.array(z.string()),
  /** Whether writes of listings ask for terms accepted by name; registration is acceptance otherwise. */
  terms_required: z.boolean(),
})
export type Platform = z.infer<typeof Platform>

const fresh: Platform = { paused_at: null, checkout_v2: false, enabled: [], terms_required: false }

export async function readPlatform(t: ReadTx): Promise<Platform> {
  const row = await t.table(settings).get(PLATFORM)
  return row ? Platform.parse(row.value) : fresh
}

export async function writePlatform(t: Tx, change: Partial<Platform>): Promise<Platform> {
  const table = t.table(settings)
  const row = await table.getForUpdate(PLATFORM)
  const platform = { ...(row ? Platform.parse(row.value) : fresh), ...change }
  await table.put({ id: PLATFORM, value: platform })
  return platform
}
