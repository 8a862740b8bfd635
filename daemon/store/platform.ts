import { z } from 'zod'
import { settings } from './collections.ts'
import type { ReadTx, Row, Tx } from './port.ts'

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
  /** How a dispute ends that nobody decides in time. */
  disputes_default: z.enum(['refund', 'release']),
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
  disputes_default: 'refund',
  named_services: {},
}

export async function readPlatform(t: ReadTx): Promise<Platform> {
  return platformOf(await t.table(settings).get(PLATFORM))
}

/** The switches in a row of settings; one written before there was a switch has it as it is at first. */
export function platformOf(row: (Row & { readonly value: unknown }) | undefined): Platform {
  return row ? Platform.parse({ ...fresh, ...(row.value as Partial<Platform>) }) : fresh // checked by the parse
}

export async function writePlatform(t: Tx, change: Partial<Platform>): Promise<Platform> {
  const table = t.table(settings)
  const platform = { ...platformOf(await table.getForUpdate(PLATFORM)), ...change }
  await table.put({ id: PLATFORM, value: platform })
  return platform
}
