import { existsSync } from 'node:fs'
import { defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { askBackup, saveBackup } from '../../src/lifecycle/save-backup.ts'
import { shellLine } from '../../src/text/shell.ts'
import { byteSize, cyan, green } from '../../src/text/text.ts'

const STDOUT = '-'

export const command = defineCommand({
  name: 'admin backup',
  summary: 'save the whole store of a running instance as one tar',
  description:
    "Consistent as of one moment; the instance goes on meanwhile. It holds everybody's data, so its file is for its owner only. Needs the admin key of the instance.",
  args: z.object({ file: z.string().meta({ description: 'where to, or - for stdout' }) }),
  options: z.object({
    force: z.boolean().default(false).meta({ description: 'replace a file that is there' }),
  }),
  examples: ['souk admin backup market.tar --force', 'souk admin backup market.tar --force --json'],
  async run(context) {
    const { args, options, globals, io } = context
    const file = args.file === STDOUT ? null : args.file
    wouldDo(globals, `save a backup to ${args.file}`)
    if (file !== null && existsSync(file) && !options.force) {
      throw new CliError('conflict', `${io.path(file)} is there already.`, {
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
