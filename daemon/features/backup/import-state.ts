import { existsSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/core/error.ts'
import { makeFolder } from '../../../src/core/folder.ts'
import type { Entropy } from '../../../src/core/hex.ts'
import { settings } from '../../kernel/rows.ts'
import { drawAddress, openSandboxChain } from '../../ports/chain/sandbox/chain.ts'
import { openRecover } from '../../ports/chain/signature.ts'
import { systemClock } from '../../ports/clock.ts'
import { realDisk, writeFully } from '../../store/disk.ts'
import { BLOB_DIR } from '../../store/lowdb/files.ts'
import { type WholeWriter, writeWhole } from '../../store/lowdb/whole.ts'
import type { AnyCollection } from '../../store/port.ts'
import { auditBooks } from '../audit/audit.ts'
import { withStaged } from './archive.ts'
import { openStopped, replaceStore, STORE_FOLDER } from './replace.ts'
import { type InstallationValues, type StateEnd, type StateHeader, SYMBOLS } from './state-format.ts'
import { readState, type StateItem } from './state-in.ts'
import { faultAt } from './state-lines.ts'
import { diskFull, isNoSpace } from './storage.ts'

export type StateImport = {
  readonly dataDir: string
  readonly collections: readonly AnyCollection[]
  readonly chunks: AsyncIterable<Uint8Array>
  /** Whether the new store gets the installation identity that is in the file, and not a new identity. */
  readonly keep: boolean
  readonly entropy: Entropy
  /** Called with the number of rows read. */
  readonly watch?: (rows: number) => void
}

export type Imported = {
  readonly records: number
  readonly files: number
  /** Hash of the state. Every export of the same state has the same hash. */
  readonly sha256: string
  /** Whether signatures made for the file's installation stay valid here. */
  readonly keptInstallation: boolean
}

const WATCH_EVERY = 1_000
const STORE_ID_BYTES = 16

/**
 * Creates the store of a stopped daemon from an export. The new store is opened and audited before it replaces
 * anything. On an error nothing changes.
 * @throws AppError 400 with line and member, AppError 409 if the audit fails, StoreLocked while a daemon runs
 */
export async function importState(options: StateImport): Promise<Imported> {
  const { dataDir } = options
  const isNew = !existsSync(dataDir)
  makeFolder(dataDir)
  try {
    return await withStaged(dataDir, async (folder) => {
      const fresh = join(folder, STORE_FOLDER)
      const { header, end } = await unpackState(options, fresh)
      await compareBooks(options, folder)
      await replaceStore(dataDir, fresh, async () => (await openStopped(dataDir, options.collections)).close())
      return {
        records: header.rows,
        files: header.files,
        sha256: end.sha256,
        keptInstallation: options.keep,
      }
    })
  } catch (error) {
    if (isNew) await rmdir(dataDir).catch(() => undefined) // it was not empty any more
    throw isNoSpace(error) ? diskFull(dataDir, error) : error
  }
}

type Unpacked = { readonly header: StateHeader; readonly end: StateEnd }

async function unpackState(options: StateImport, store: string): Promise<Unpacked> {
  const writer = await writeWhole(store, options.entropy(STORE_ID_BYTES).toString('hex'))
  const blobs = blobWriter(join(store, BLOB_DIR))
  try {
    const unpacked = await unpackItems(options, { writer, blobs })
    await blobs.close()
    await writer.end()
    return unpacked
  } catch (error) {
    await blobs.close()
    await writer.drop()
    throw error
  }
}

/** @throws AppError 400 if `part` is missing. Every complete file has this part. */
function there<T>(part: T | undefined): T {
  if (part === undefined) throw faultAt(1, 'the file is empty')
  return part
}

type Places = { readonly writer: WholeWriter; readonly blobs: ReturnType<typeof blobWriter> }

async function unpackItems(options: StateImport, { writer, blobs }: Places): Promise<Unpacked> {
  const { chunks, collections, watch } = options
  let read: { header: StateHeader; values: InstallationValues } | undefined
  let end: StateEnd | undefined
  let count = 0
  for await (const item of readState(chunks, collections)) {
    if (item.kind === 'header') {
      read = { header: item.header, values: valuesOf(item.header, options) }
      await addSettings(writer, read.values)
    } else if (item.kind === 'row') {
      count += 1
      if (count % WATCH_EVERY === 0) watch?.(count)
      await addRow(writer, item, read?.values)
    } else if (item.kind === 'part') await blobs.add(item)
    else end = item.end
  }
  return { header: there(read).header, end: there(end) }
}

/** The file's installation values, or new ones. New values make signatures for other installations invalid. */
function valuesOf(header: StateHeader, { keep, entropy }: Pick<StateImport, 'keep' | 'entropy'>): InstallationValues {
  if (!keep) return { asset: drawAddress(entropy), pay_to: drawAddress(entropy), settings: {} }
  if (header.installation) return header.installation
  throw faultAt(
    1,
    'is null: --replace needs an export with installation values; without --replace, new values are created',
    'installation',
  )
}

async function addSettings(writer: WholeWriter, values: InstallationValues): Promise<void> {
  for (const [id, value] of Object.entries(values.settings)) await writer.add(settings.name, { id, version: 1, value })
}

async function addRow(
  writer: WholeWriter,
  { row: { collection, json } }: StateItem & { kind: 'row' },
  values: InstallationValues | undefined,
): Promise<void> {
  const changed = (collection.addresses ?? []).flatMap((member) => {
    const value = json[member]
    if (value === SYMBOLS.asset) return [[member, values?.asset]] as const
    return value === SYMBOLS.pay_to ? ([[member, values?.pay_to]] as const) : []
  })
  await writer.add(collection.name, changed.length === 0 ? json : { ...json, ...Object.fromEntries(changed) })
}

/** Writes blobs in the order of the file. Each is durable before the next one begins. */
function blobWriter(folder: string) {
  let open: { readonly name: string; readonly file: Awaited<ReturnType<typeof realDisk.open>> } | undefined
  async function close(): Promise<void> {
    const done = open
    open = undefined
    if (!done) return
    await done.file.datasync()
    await done.file.close()
  }
  return {
    async add({ part, bytes }: StateItem & { kind: 'part' }): Promise<void> {
      if (open?.name !== part.file) {
        await close()
        open = { name: part.file, file: await realDisk.open(`${folder}/${part.file}`, 'create') }
      }
      await writeFully(open.file, bytes, part.at)
    },
    async close(): Promise<void> {
      await close()
      await realDisk.syncDir(folder)
    },
  }
}

async function compareBooks({ collections, entropy }: StateImport, folder: string): Promise<void> {
  const store = await openStopped(folder, collections)
  try {
    const chain = await openSandboxChain({ store, recover: await openRecover(), entropy, wall: systemClock.wall })
    const { ok, checks } = await auditBooks({ store, chain, clock: systemClock })
    if (ok) return
    const failed = checks.filter((check) => !check.ok).map(({ name }) => name)
    throw new AppError(
      'conflict',
      `The ledger in the file fails its audit (${failed.join(', ')}). Nothing was changed.`,
    )
  } finally {
    await store.close()
  }
}
