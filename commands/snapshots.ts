import { existsSync } from 'node:fs'
import { defineCommand } from '../src/cli/command.ts'
import { CliError } from '../src/cli/exit.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { findDaemon, isLive } from '../src/client/discover.ts'
import { makeFolder } from '../src/core/folder.ts'
import { hasStore, localOnly, requireStopped, restoreFrom } from '../src/lifecycle/restore.ts'
import { askBackup, saveBackup } from '../src/lifecycle/save-backup.ts'
import { findSnapshot, listSnapshots, type Snapshot, snapshotFile, snapshotFolder } from '../src/lifecycle/snapshots.ts'
import { bold, byteSize, cyan, green } from '../src/text/text.ts'
import { showRestored } from './restore.ts'

const columns: readonly Column<Snapshot>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'SAVED', value: ({ saved_at }) => saved_at },
  { title: 'SIZE', value: (row) => byteSize(row.size_bytes), plain: (row) => row.size_bytes, align: 'right' },
]

export const snapshotsList = defineCommand({
  name: 'snapshots list',
  summary: 'list saved copies of the local data, newest first',
  examples: ['souk snapshots list', 'souk snapshots list --json'],
  async run(context) {
    const snapshots = listSnapshots(context)
    return { total: snapshots.length, snapshots }
  },
  rows: ({ snapshots }) => snapshots,
  columns,
  view({ snapshots }, io) {
    printRows(io, columns, snapshots)
    if (snapshots.length === 0) io.note(`there is none yet: ${cyan(io.hint('souk snapshots save NAME'))}`)
  },
})

export const snapshotsRestore = defineCommand({
  name: 'snapshots restore',
  summary: 'restore the local data from a saved copy',
  description: 'Stop the daemon first. Changes made after the copy was saved are lost.',
  args: z.object({ name: z.string().meta({ description: 'name, from `souk snapshots list`' }) }),
  examples: ['souk snapshots restore before-upgrade --yes', 'souk snapshots restore before-upgrade --yes --json'],
  async run(context) {
    const { name } = context.args
    const file = findSnapshot(context, name)
    await requireStopped(context, `souk snapshots restore ${name}`)
    wouldDo(context.globals, `restore snapshot ${name} to ${context.places.data}`)
    if (hasStore(context)) await context.io.confirm(`Replace the store with "${name}"? All later changes are lost.`)
    return { name, ...(await restoreFrom(context, file)) }
  },
  view: showRestored,
})

export const snapshotsSave = defineCommand({
  name: 'snapshots save',
  summary: 'save a named copy of the local data',
  description: 'Works while the daemon runs and while it is stopped.',
  args: z.object({ name: z.string().meta({ description: 'name: lower-case letters, digits, - and _' }) }),
  options: z.object({ force: z.flag({ description: 'overwrite a copy with this name' }) }),
  examples: ['souk snapshots save before-upgrade --force', 'souk snapshots save before-upgrade --force --json'],
  async run(context) {
    const { args, options, globals, places } = context
    localOnly(context)
    const file = snapshotFile(context, args.name)
    if (existsSync(file) && !options.force) {
      throw new CliError('conflict', `Snapshot "${args.name}" already exists.`, {
        next: [`souk snapshots save ${args.name} --force`],
      })
    }
    const found = await findDaemon(places)
    const runs = isLive(found)
    if (!runs && !hasStore(context)) throw new CliError('not_found', 'There is no store yet.', { next: ['souk up'] })
    wouldDo(globals, `save the store as ${args.name}`)
    makeFolder(snapshotFolder(context))
    const chunks = runs
      ? await askBackup(await context.session(), context.globals)
      : (await context.system.daemon()).backupData(places.data)
    return { name: args.name, ...(await saveBackup(context, chunks, file)) }
  },
  view({ name, size_bytes }, io) {
    io.line(`${green('✓')} saved as ${bold(name)}   ${byteSize(size_bytes)}`)
    io.note(`  restore it: ${cyan(io.hint('souk down'))}   ${cyan(io.hint(`souk snapshots restore ${name}`))}`)
  },
})
