import { existsSync } from 'node:fs'
import { defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { askBackup, saveBackup } from '../../src/lifecycle/save-backup.ts'
import { byteSize, cyan, green, shellLine } from '../../src/text/text.ts'

const STDOUT = '-'

export const command = defineCommand({
  name: 'admin backup',
  summary: 'back up a running instance to one tar file',
  description:
    'A consistent snapshot; the instance keeps running. The file holds the data of all participants: keep it private. Needs the admin key of the instance.',
  args: z.object({ file: z.string().meta({ description: 'file to write, - for stdout' }) }),
  options: z.object({
    force: z.boolean().default(false).meta({ description: 'overwrite an existing file' }),
  }),
  examples: ['souk admin backup market.tar --force', 'souk admin backup market.tar --force --json'],
  async run(context) {
    const { args, options, globals, io } = context
    const file = args.file === STDOUT ? null : args.file
    wouldDo(globals, `save a backup to ${args.file}`)
    if (file !== null && existsSync(file) && !options.force) {
      throw new CliError('conflict', `${io.path(file)} already exists.`, {
        next: [shellLine`souk admin backup ${file} --force`],
      })
    }
    return saveBackup(context, await askBackup(await context.session(), context.globals), file)
  },
  view({ file, size_bytes, sha256 }, io) {
    if (file === null) return
    io.line(`${green('✓')} saved ${io.path(file)}   ${byteSize(size_bytes)}   sha256 ${sha256}`)
    io.note(`  next: ${cyan(io.hint(shellLine`souk restore ${file}`))}`)
  },
})
