import { existsSync } from 'node:fs'
import { defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { findDaemon, isLive } from '../../src/client/discover.ts'
import { makeFolder } from '../../src/core/folder.ts'
import { hasStore, localOnly } from '../../src/lifecycle/restore.ts'
import { askBackup, saveBackup } from '../../src/lifecycle/save-backup.ts'
import { snapshotFile, snapshotFolder } from '../../src/lifecycle/snapshots.ts'
import { bold, byteSize, cyan, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'snapshots save',
  summary: 'save a named copy of the local data',
  description: 'Works while the daemon runs and while it is stopped.',
  args: z.object({ name: z.string().meta({ description: 'name: lower-case letters, digits, - and _' }) }),
  options: z.object({
    force: z.boolean().default(false).meta({ description: 'overwrite a copy with this name' }),
  }),
  examples: ['souk snapshots save before --force', 'souk snapshots save before --force --json'],
  async run(context) {
    const { args, options, globals, places } = context
    localOnly(context)
    const file = snapshotFile(context, args.name)
    if (existsSync(file) && !options.force) {
      throw new CliError('conflict', `There is a snapshot "${args.name}" already.`, {
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
    io.note(`  back to it: ${cyan(io.hint('souk down'))}   ${cyan(io.hint(`souk snapshots restore ${name}`))}`)
  },
})
