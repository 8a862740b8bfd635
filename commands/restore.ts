import { existsSync } from 'node:fs'
import { defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import type { Io } from '../src/cli/io.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { hasStore, type Restored, requireStopped, restoreFrom, showKeys } from '../src/lifecycle/restore.ts'
import { cyan, green, shellLine } from '../src/text/text.ts'

export const command = defineCommand({
  name: 'restore',
  heading: 'Daemon',
  summary: 'replace local data with a backup',
  description:
    'Stop the daemon first. The backup is checked before anything is replaced. The old data is kept until the new data has opened.',
  args: z.object({ file: z.string().meta({ description: 'file from `souk admin backup`' }) }),
  options: z.object({ force: z.flag({ description: 'replace existing data' }) }),
  examples: ['souk restore market.tar --force', 'souk restore market.tar --force --json'],
  async run(context) {
    const { args, options, globals, io } = context
    const again = shellLine`souk restore ${args.file}` + (options.force ? ' --force' : '')
    if (!existsSync(args.file)) throw usage(`There is no file ${args.file}.`, { next: ['souk snapshots list'] })
    await requireStopped(context, again)
    if (hasStore(context) && !options.force) {
      throw new CliError('conflict', 'There is already data; restoring replaces all of it.', {
        facts: [io.path(context.places.data)],
        next: ['souk snapshots save before-upgrade', `${again} --force`],
      })
    }
    wouldDo(globals, `restore ${args.file} to ${context.places.data}`)
    return restoreFrom(context, args.file)
  },
  view: showRestored,
})

export function showRestored({ data_dir, records, blobs, replaced, keys }: Restored, io: Io): void {
  io.line(`${green('✓')} restored ${records} records and ${blobs} files${replaced ? ', replacing the old store' : ''}`)
  io.line(`  data      ${io.path(data_dir)}`)
  showKeys(keys, io)
  io.note(`  next      ${cyan(io.hint('souk up'))}`)
}
