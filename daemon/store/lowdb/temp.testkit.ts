import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { afterEach } from 'vitest'
import { accounts, collectionsUnderTest } from '../conformance/world.testkit.ts'
import type { StoreStopped } from '../errors.ts'
import type { Store } from '../port.ts'
import { type LowdbStore, type LowdbStoreOptions, openLowdbStore } from './open.ts'

const made: string[] = []
const opened: LowdbStore[] = []

/** A directory that is gone when the case ends. */
export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(`${tmpdir()}/souk-store-`)
  made.push(dir)
  return dir
}

/** Closes the stores and removes the directories of each case. */
export function cleanUp(): void {
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close()
    for (const dir of made.splice(0)) await rm(dir, { recursive: true, force: true })
  })
}

export function options(dir: string, more: Partial<LowdbStoreOptions> = {}): LowdbStoreOptions {
  return {
    dir,
    collections: collectionsUnderTest,
    now: () => 1_700_000_000_000,
    onFatal: (error: StoreStopped) => {
      throw error
    },
    freeze: true,
    ...more,
  }
}

/** Opens a store that is closed when the case ends. */
export async function openTemp(dir: string, more: Partial<LowdbStoreOptions> = {}): Promise<LowdbStore> {
  const store = await openLowdbStore(options(dir, more))
  opened.push(store)
  return store
}

/** Every account, as `id:sales`. */
export async function contents(store: Store): Promise<string[]> {
  const { rows } = await store.table(accounts).page('owner', [], { limit: 1000 })
  return rows.map((row) => `${row.id}:${row.sales}`).sort()
}

/** The journal files of a directory in order, with their text. */
export async function journals(dir: string): Promise<{ path: string; text: string }[]> {
  const names = (await readdir(dir)).filter((name) => name.startsWith('journal-'))
  names.sort((a, b) => Number(/\d+/.exec(a)?.[0]) - Number(/\d+/.exec(b)?.[0]))
  return Promise.all(
    names.map(async (name) => ({ path: `${dir}/${name}`, text: await readFile(`${dir}/${name}`, 'utf8') })),
  )
}
