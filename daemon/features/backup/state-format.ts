import { z } from 'zod'
import { circleUsdc } from '../../../src/core/authorization.ts'
import { MAX_PRODUCT_BYTES } from '../../../src/core/limits.ts'
import { ENGINES_SEEN } from '../../engines/seen.ts'
import { IDENTITY } from '../../kernel/identity.ts'
import { settings } from '../../kernel/rows.ts'
import type { AnyRow } from '../../store/engine/order.ts'
import { VENDOR } from '../verification/callback.ts'

/*
 * An export as lines of JSON (docs/reference/storage-format.md, "The whole state as text"): a header, rows ordered by
 * collection and key, files ordered by name, and an end with counts and hash. Only the header has installation values.
 */

export const STATE_FORMAT = 1
/** Maximum bytes of a line. The longest lines are store rows. */
export const MAX_STATE_LINE_BYTES = 64 * 1024 * 1024
export const MAX_HEADER_BYTES = 64 * 1024
/** Maximum file bytes per line; a whole file has at most `MAX_FILE_BYTES`. */
export const FILE_PART_BYTES = 96 * 1024
export const MAX_FILE_BYTES = MAX_PRODUCT_BYTES

/** Placeholders for addresses of the installation. */
export const SYMBOLS = { asset: '@asset', pay_to: '@pay_to' } as const

const installationSettings = [IDENTITY, VENDOR, ENGINES_SEEN] as const

export function isOwn({ name }: { readonly name: string }, row: AnyRow): boolean {
  return name === settings.name && installationSettings.some((id) => id === row['id'])
}

const Wallet = z.string().regex(/^0x[0-9a-f]{40}$/)
const Asset = Wallet.refine(
  (address) => Object.values(circleUsdc).every(({ asset }) => asset !== address),
  'is a real token address',
)
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const Count = z.int().min(0)

/** Identity of an installation. Installations with equal values accept each other's signatures. */
export const InstallationValues = z.strictObject({
  asset: Asset.nullable(),
  pay_to: Wallet.nullable(),
  /** Its settings rows. */
  settings: z.partialRecord(z.enum(installationSettings), z.json()),
})
export type InstallationValues = z.infer<typeof InstallationValues>

export const StateHeader = z.strictObject({
  souk: z.literal('state'),
  format: z.int().min(1),
  /** Format of the rows (`daemon/store/migrations.ts`). */
  store_format: z.int().min(1),
  made_at: z.iso.datetime(),
  rows: Count,
  files: Count,
  /** null in an anonymised export that an earlier version of souk wrote. */
  installation: InstallationValues.nullable(),
})
export type StateHeader = z.infer<typeof StateHeader>

export const StateRow = z.strictObject({ in: z.string(), row: z.record(z.string(), z.json()) })
export const StatePart = z.strictObject({
  file: Sha256,
  size: Count.max(MAX_FILE_BYTES),
  at: Count,
  data: z.base64().max(Math.ceil(FILE_PART_BYTES / 3) * 4),
})
export type StatePart = z.infer<typeof StatePart>

export const StateEnd = z.strictObject({
  end: z.literal('state'),
  /** Row counts of nonempty collections. */
  counts: z.record(z.string(), Count),
  files: Count,
  /** Hash of the lines between the header and this line. Exports of equal states have the same hash. */
  sha256: Sha256,
  /** Hash of the first line. */
  header_sha256: Sha256,
})
export type StateEnd = z.infer<typeof StateEnd>
