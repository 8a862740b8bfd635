import { existsSync } from 'node:fs'
import { defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { hasStore, requireStopped } from '../src/lifecycle/restore.ts'
import { importWhole, STDOUT } from '../src/lifecycle/whole-state.ts'
import { cyan, green, shellLine } from '../src/text/text.ts'

export const command = defineCommand({
  name: 'import',
  heading: 'Daemon',
  summary: 'create a local marketplace from an export',
  description:
    'Reads a file of `souk export --all` into an instance without data. The file and its books are checked before anything changes. The new marketplace gets its own pay-to address, asset and admin key, so that old signatures are not valid here. --replace overwrites existing data and keeps the identity from the file: never run both copies.',
  args: z.object({ file: z.string().meta({ description: 'file from `souk export --all`, - for stdin' }) }),
  options: z.object({ replace: z.flag({ description: 'replace existing data and identity with those of the file' }) }),
  examples: ['souk import market.ndjson --instance copy', 'souk import market.ndjson --replace --yes --json'],
  async run(context) {
    const { args, options, globals, io, places } = context
    const again = shellLine`souk import ${args.file}` + (options.replace ? ' --replace' : '')
    if (args.file === STDOUT && context.system.stdinIsTty) {
      throw usage('This command reads stdin, and nothing is piped in.', { next: ['… < FILE'] })
    }
    if (args.file !== STDOUT && !existsSync(args.file)) {
      throw usage(`There is no file ${args.file}.`, { next: [shellLine`souk export --all ${args.file}`] })
    }
    await requireStopped(context, again)
    if (hasStore(context) && !options.replace) {
      throw new CliError('conflict', 'This instance already has data; an import needs an instance without data.', {
        facts: [io.path(places.data)],
        next: [shellLine`souk import ${args.file} --instance copy`, `${again} --replace`],
      })
    }
    wouldDo(globals, `import ${args.file} to ${places.data}`)
    if (options.replace) {
      const gone = hasStore(context) ? 'The current data is deleted, and signatures' : 'Signatures'
      await io.confirm(`${gone} that were made for the installation of ${args.file} become valid here. Continue?`)
    }
    return importWhole(context, args.file, options.replace)
  },
  view({ records, files, sha256, data_dir: dir, kept_installation: kept }, io) {
    io.line(`${green('✓')} imported ${records} records and ${files} files   sha256 ${sha256}`)
    io.line(`  data      ${io.path(dir)}`)
    io.line(
      `  is        ${kept ? 'the same installation as in the file' : 'a new installation: wallets must sign again, API keys stay valid'}`,
    )
    io.note(`  next      ${cyan(io.hint('souk up'))}   ${cyan(io.hint('souk money audit'))}`)
  },
})
