import { z } from 'zod'
import { compact } from '../../src/core/record.ts'
import { rulings } from '../../src/model/job.ts'
import type { ReadTx, Row, Tx } from '../store/port.ts'
import { settings } from './rows.ts'

/** Settings key of the switches. */
export const PLATFORM = 'platform'

/** The switches (decisions §12): pause, cutover, per-feature enablement, and escrow pause. */
const Platform = z.strictObject({
  /** Business time when the pause began; null if not paused. */
  paused_at: z.int().nullable(),
  paused_reason: z.string().nullable(),
  checkout_v2: z.boolean(),
  /** Enabled switches of endpoints that are off by default. */
  enabled: z.array(z.string()),
  /** Whether creating or editing a listing requires accepted terms. If not, registration counts as acceptance. */
  terms_required: z.boolean(),
  /** Business time since which escrow allows refunds only (decisions §8); null while it is active. */
  escrow_paused_at: z.int().nullable(),
  escrow_paused_reason: z.string().nullable(),
  /** Default ruling for undecided disputes, and the days until it; null if the operator decides. */
  disputes_default: z.strictObject({ outcome: z.enum(rulings), days: z.int() }).nullable(),
  /** Listings of named services, by slug (decisions §7). */
  named_services: z.record(z.string(), z.string()),
})
export type Platform = z.infer<typeof Platform>

const fresh: Platform = {
  paused_at: null,
  paused_reason: null,
  checkout_v2: false,
  enabled: [],
  terms_required: false,
  escrow_paused_at: null,
  escrow_paused_reason: null,
  disputes_default: null,
  named_services: {},
}

export async function readPlatform(t: ReadTx): Promise<Platform> {
  return platformOf(await t.table(settings).get(PLATFORM))
}

/** The stored switches. A switch that an old row lacks has its default. */
export function platformOf(row: (Row & { readonly value: unknown }) | undefined): Platform {
  if (!row) return fresh
  const stored = row.value as Partial<Platform> // checked by the parse
  const disputes_default = earlierDefault(stored.disputes_default)
  return Platform.parse({ ...fresh, ...stored, ...compact({ disputes_default }) })
}

const EARLIER_DEFAULT_DAYS = 14

/** Converts the bare outcome that earlier versions stored. Their default, `refund`, counts as unset. */
function earlierDefault(stored: unknown): Platform['disputes_default'] | undefined {
  if (typeof stored !== 'string') return undefined
  return stored === 'release' ? { outcome: 'release', days: EARLIER_DEFAULT_DAYS } : null
}

export async function writePlatform(t: Tx, change: Partial<Platform>): Promise<Platform> {
  const table = t.table(settings)
  const platform = { ...platformOf(await table.getForUpdate(PLATFORM)), ...change }
  await table.put({ id: PLATFORM, value: platform })
  return platform
}

/** Time and reason of the pause of paid activity. */
export function pauseOf({ paused_at: pausedAt, paused_reason: pausedReason }: Platform) {
  return { pausedAt, pausedReason }
}
