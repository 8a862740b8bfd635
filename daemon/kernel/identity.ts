import { createHash, randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { AppError, errnoOf } from '../../src/core/error.ts'
import type { Entropy } from '../../src/core/hex.ts'
import { commit } from '../store/draw.ts'
import type { Store } from '../store/port.ts'
import { defineResource } from './context.ts'
import { putSetting, settings } from './rows.ts'

/** Path of a packaged file or folder. Works in the sources and in the bundle, which differ in depth. */
export function shipped(path: string): string {
  const fixtures = import.meta.url.endsWith('.ts') ? '../../fixtures/' : '../fixtures/'
  return fileURLToPath(new URL(`${fixtures}${path}`, import.meta.url))
}

/** SHA-256 hex, the only form in which credentials are stored (decisions §3). */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

export const IDENTITY = 'identity'
const ADMIN_KEY_BYTES = 20
/** File with the admin key in plain text, read by the local command line only. */
export const ADMIN_KEY_FILE = 'admin.key'
const PRIVATE_MODE = 0o600

export type FrontKeys = { readonly secret: string; readonly adminKeyHash: string }

const Identity = z.strictObject({ instance_id: z.string(), admin_key_hash: z.string() })
type Identity = z.infer<typeof Identity> & { readonly adminKey: string }

export type Installation = {
  readonly version: string
  /** Public name of the installation; not a credential. */
  readonly instanceId: string
  /** SHA-256 of the admin key, hex. */
  readonly adminKeyHash: string
  /** Key for sealed values, derived from the admin key. The store has neither of the two keys. */
  readonly sealingSecret: string
  /** Secret by which daemons of this marketplace know the requests that they hand to each other. */
  readonly frontSecret: string
  /** Port of the HTTP server. */
  readonly port: () => number
}

export const installation = defineResource<Installation>('installation')

/**
 * Reads the installation's name and admin key, or creates them. If the key's file is missing or wrong, a new key
 * replaces the stored one (decisions §3).
 */
export async function openIdentity(parts: { store: Store; entropy: Entropy; dataDir: string }): Promise<Identity> {
  const row = await parts.store.table(settings).get(IDENTITY)
  const known = row && Identity.parse(row.value)
  const file = join(parts.dataDir, ADMIN_KEY_FILE)
  const kept = await readKey(file)
  if (known && kept !== undefined && hashSecret(kept) === known.admin_key_hash) return { ...known, adminKey: kept }
  const key = `adm_${parts.entropy(ADMIN_KEY_BYTES).toString('hex')}`
  const identity = { instance_id: known?.instance_id ?? randomUUID(), admin_key_hash: hashSecret(key) }
  await writeFile(file, `${key}\n`, { mode: PRIVATE_MODE })
  await commit(parts, async (t) => {
    await putSetting(t, IDENTITY, identity)
  })
  return { ...identity, adminKey: key }
}

export const frontSecretOf = (adminKey: string): string => hashSecret(`front ${adminKey}`)

/**
 * What a front needs to be known by the leader; undefined in a new store.
 * @throws AppError `conflict` when the folder does not have the admin key of the store
 */
export async function requireAdminKey({
  store,
  dataDir,
}: {
  store: Pick<Store, 'table'>
  dataDir: string
}): Promise<FrontKeys | undefined> {
  const row = await store.table(settings).get(IDENTITY)
  const file = join(dataDir, ADMIN_KEY_FILE)
  const kept = await readKey(file)
  if (!row) return undefined
  const adminKeyHash = hashSecret(kept ?? '')
  if (kept && adminKeyHash === Identity.parse(row.value).admin_key_hash)
    return { adminKeyHash, secret: frontSecretOf(kept) }
  throw new AppError(
    'conflict',
    `A front needs the admin key of the marketplace: copy admin.key of the other data folder to ${file}.`,
  )
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}
