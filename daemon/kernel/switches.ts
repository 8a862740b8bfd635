import { z } from 'zod'
import { compact } from '../../src/core/record.ts'
import { rulings } from '../../src/model/job.ts'
import type { ReadTx, Row, Tx } from '../store/port.ts'
import { settings } from './rows.ts'

/** Key of the row of settings that holds the switches. */
export const PLATFORM = 'platform'

/** The switches (decisions §12): pause, cutover, per-feature enablement, and the escrow contract's own pause. */
const Platform = z.strictObject({
  /** Business time since when paid activity is paused; null: active. */
  paused_at: z.int().nullable(),
  /** Why, as whoever paused it said. */
  paused_reason: z.string().nullable(),
  checkout_v2: z.boolean(),
  /** Switched-off rows that were enabled. */
  enabled: z.array(z.string()),
  /** Whether writes of listings ask for terms accepted by name; registration is acceptance otherwise. */
  terms_required: z.boolean(),
  /** Business time since when nothing enters or leaves escrow but refunds (decisions §8); null: active. */
  escrow_paused_at: z.int().nullable(),
  escrow_paused_reason: z.string().nullable(),
  /** How a dispute ends that nobody decides for so many days; null: it waits for the operator. */
  disputes_default: z.strictObject({ outcome: z.enum(rulings), days: z.int() }).nullable(),
  /** Listings behind the advertised paths, by slug (decisions §7). */
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

/** The switches in a row of settings; one written before there was a switch has it as it is at first. */
export function platformOf(row: (Row & { readonly value: unknown }) | undefined): Platform {
  if (!row) return fresh
  const stored = row.value as Partial<Platform> // checked by the parse
  const disputes_default = earlierDefault(stored.disputes_default)
  return Platform.parse({ ...fresh, ...stored, ...compact({ disputes_default }) })
}

const EARLIER_DEFAULT_DAYS = 14

/** Earlier stores name the outcome alone, and `refund` also where nobody had chosen it. */
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

/** Since when, and why, paid activity is paused. */
export function pauseOf({ paused_at: pausedAt, paused_reason: pausedReason }: Platform) {
  return { pausedAt, pausedReason }
}
