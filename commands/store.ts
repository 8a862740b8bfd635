import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { andJson, type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { keepLaunch, lastLaunch, storeOf } from '../src/lifecycle/launch.ts'
import { boundHeapGrowth } from '../src/lifecycle/memory.ts'
import { isInDatabase, requireStopped } from '../src/lifecycle/restore.ts'
import { cyan, green } from '../src/text/text.ts'

const FILES = 'files'
const DATABASE = 'database'

type Context = CommandContext<{ readonly to: string }, { readonly store?: string | undefined }>

export const storeCopy = defineCommand({
  name: 'store copy',
  heading: 'Daemon',
  summary: 'move the local data between files and a PostgreSQL database',
  description:
    'Stop the daemon first. The next `souk up` uses the copy. The original stays as it is: the database, or the files in a folder beside. The copy is read back and compared, with the audit of its books, before it counts; a copy that fails leaves nothing.',
  args: z.object({
    to: z.string().meta({ description: '`files`, or the address of a database: postgres://USER@HOST/DATABASE' }),
  }),
  options: z.object({
    store: z.text({
      description: 'database to copy from (default: SOUK_STORE, or the last one)',
      value: 'postgres://…',
    }),
  }),
  examples: andJson('souk store copy postgres://souk@localhost/souk --dry-run'),
  async run(context) {
    const { args, places, io, system, globals } = context
    // Takes a password off the list of processes.
    process.title = 'souk store copy'
    boundHeapGrowth()
    const toFiles = args.to === FILES
    await requireStopped(context, toFiles ? 'souk store copy files' : 'souk store copy postgres://…')
    const store = toFiles ? databaseOf(context) : args.to
    if (!toFiles) requireFiles(context)
    wouldDo(globals, toFiles ? `copy the database to files in ${places.data}` : `copy ${places.data} to the database`)
    const door = await system.daemon()
    using progress = io.progress('copying')
    const watch = (rows: number) => progress.update(`copying   ${rows} records`)
    const wanted = { to: toFiles ? FILES : DATABASE, store, watch } as const
    const { rows, files, sha256, database, kept } = await door.moveStore(places.data, wanted)
    const { store: _, ...launch } = lastLaunch(places)
    keepLaunch(places, toFiles ? launch : { ...launch, store })
    return { to: toFiles ? FILES : database, records: rows, files, sha256, data_dir: places.data, kept: kept ?? null }
  },
  view({ to, records, files, kept, data_dir }, io) {
    io.line(`${green('✓')} copied ${records} records and ${files} files to ${to === FILES ? io.path(data_dir) : to}`)
    if (kept !== null) io.line(`  before    ${io.path(kept)}   remove it when you do not need it any more`)
    io.note(`  next      ${cyan(io.hint('souk up'))}`)
  },
})

/** @throws CliError when the local data is not in a database, or nothing names the database */
function databaseOf(context: Context): string {
  const { places, options } = context
  const store = storeOf(context, options)
  if (isInDatabase(context) && store !== undefined) return store
  throw new CliError('not_found', `The data of ${places.data} is not in a database.`, {
    next: ['souk store copy postgres://…'],
  })
}

/** @throws CliError when there are no files to copy */
function requireFiles({ places }: Context): void {
  if (existsSync(join(places.data, 'store', 'MANIFEST.json'))) return
  throw new CliError('not_found', `There are no files of a marketplace in ${places.data}.`, { next: ['souk up'] })
}
