import { existsSync } from 'node:fs'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import type { Io } from '../src/cli/io.ts'
import type { ExportLine } from '../src/cli/nouns/export-lines.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { compact } from '../src/core/record.ts'
import type { SavedState, WrittenLine } from '../src/lifecycle/whole-state.ts'
import { shellLine } from '../src/text/shell.ts'
import { cyan, green } from '../src/text/text.ts'

const STDOUT = '-'

const options = z.object({
  all: z.boolean().default(false).meta({ description: 'the whole marketplace, for its operator: see souk import' }),
  anonymise: z
    .boolean()
    .default(false)
    .meta({ description: 'with --all: other names for everybody, no words, no files' }),
  csv: z.string().optional().meta({ description: 'a folder for one table a list, instead of FILE', value: 'dir' }),
  only: z
    .string()
    .optional()
    .meta({ description: 'some kinds of records, such as job,message,payment', value: 'kinds' }),
})
type Wanted = CommandContext<{ file?: string | undefined }, z.output<typeof options>>

/** What was written, and how many records of each kind it holds. */
type Written = {
  readonly file: string | null
  readonly csv?: string
  readonly records: number
  readonly counts: Readonly<Record<string, number>>
}

export const command = defineCommand({
  name: 'export',
  heading: 'People',
  summary: 'save all your own records, or a whole marketplace, as NDJSON',
  description:
    'Profile, listings, jobs, conversations, payments, balance and all else that is yours; it works while the marketplace is paused. Each line is {"kind": …, "record": …}; the last one, of kind "end", counts the others, and a file is only kept when that came. With --all it is the whole state of a marketplace, for its operator: every row and file, consistent as of one moment, of a running daemon or one that is down; its file holds everybody\'s data and is for its owner only. With --anonymise no wallet, key, message or file of the original is left in it, and the books agree all the same.',
  args: z.object({ file: z.string().optional().meta({ description: 'where to, or - for stdout' }) }),
  options,
  examples: [
    'souk export mine.ndjson --yes',
    'souk export - --only job,message',
    "souk export - --jq '.kind'",
    'souk export --csv ./tables',
    'souk export --all market.ndjson --yes',
    'souk export --all --anonymise -',
  ],
  run: (context) => run(context),
  view(item, io) {
    if ('csv' in item && 'sha256' in item) wholeSaved(item, io)
    else if ('records' in item) written(item, io)
    else io.jsonLine(item)
  },
})

/** Lines of a whole state go to stdout as they come, since they are hashed. */
type Printed = ExportLine | WrittenLine | Written | SavedState

async function* run(context: Wanted): AsyncGenerator<Printed> {
  const { globals, io, args, options: wanted } = context
  const { file } = args
  refuseMixed(context)
  const what = wanted.all ? 'the whole marketplace' : 'your records'
  wouldDo(globals, `export ${what} to ${wanted.csv ?? file}`)
  if (file !== undefined && file !== STDOUT && existsSync(file)) await io.confirm(`Replace ${io.path(file)}?`)
  if (!wanted.all) return yield* own(context)
  const { exportWhole } = await import('../src/lifecycle/whole-state.ts')
  const saved = await exportWhole(context, { file, csv: wanted.csv, anonymise: wanted.anonymise })
  if (file !== STDOUT) yield saved
}

/** What says two things at once, or nothing. */
function refuseMixed({ args: { file }, options: { all, anonymise, only, csv }, globals }: Wanted): void {
  if (file === undefined && csv === undefined) {
    throw usage('Say where to: FILE, - for stdout, or --csv DIR.', { next: ['… -'] })
  }
  if (file !== undefined && csv !== undefined) throw usage('FILE and --csv DIR say two things: name one of them.')
  if (anonymise && !all) throw usage('--anonymise is for a whole marketplace.', { next: ['… --all'] })
  if (all && only !== undefined) throw usage('--only picks among your own records, and --all is everything.')
  if (all && file === STDOUT && (globals.jq ?? globals.fields) !== undefined) {
    throw usage('A whole state goes out as it is, so that it can be imported; filter it behind a pipe.')
  }
}

async function* own(context: Wanted): AsyncGenerator<ExportLine | Written> {
  const { io, args, options: wanted } = context
  const session = await context.session()
  const { linesOf, saveLines, saveTables } = await import('../src/cli/nouns/export-lines.ts')
  const progress = io.progress('exporting')
  const watch = (records: number, kind: string) => progress.update(`exporting   ${records} records   ${kind}`)
  try {
    const lines = linesOf(await session.open('getExport', { query: compact({ only: wanted.only }) }), watch)
    if (args.file === STDOUT) {
      for await (const { parsed } of lines) {
        yield parsed
        await io.flush() // no faster than it is read
      }
    } else if (wanted.csv !== undefined) {
      const { records, counts } = await saveTables(wanted.csv, lines)
      progress.stop()
      yield { file: null, csv: wanted.csv, records, counts }
    } else {
      const file = args.file ?? STDOUT
      const { records, counts } = await saveLines(file, lines)
      progress.stop()
      yield { file, records, counts }
    }
  } finally {
    progress.stop()
  }
}

function written({ file, csv, records, counts }: Written, io: Io): void {
  io.line(`${green('✓')} saved ${io.path(file ?? csv ?? '')}   ${records} records`)
  const some = Object.entries(counts).filter(([, count]) => count > 0)
  for (const [kind, count] of some) io.note(`${String(count).padStart(8)}  ${kind}`)
}

function wholeSaved({ file, csv, anonymised, records, files, sha256 }: SavedState, io: Io): void {
  io.line(`${green('✓')} saved ${io.path(file ?? csv ?? '')}   ${records} records and ${files} files`)
  io.line(`  sha256    ${sha256}${anonymised ? '   (anonymised: of this copy alone)' : ''}`)
  if (file !== null) io.note(`  next      ${cyan(io.hint(shellLine`souk import ${file} --instance copy`))}`)
}
