import { existsSync } from 'node:fs'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import type { Io } from '../src/cli/io.ts'
import type { ExportLine } from '../src/cli/nouns/export-lines.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { compact } from '../src/core/record.ts'
import type { SavedState, WrittenLine } from '../src/lifecycle/whole-state.ts'
import { cyan, green, shellLine } from '../src/text/text.ts'

const STDOUT = '-'

const options = z.object({
  all: z.flag({ description: 'export the complete marketplace (needs the admin key); see `souk import`' }),
  only: z.text({ description: 'only these kinds of records, such as job,message,payment', value: 'kinds' }),
})
type Context = CommandContext<{ file: string }, z.output<typeof options>>

/** The written file, and how many records it has of each kind. */
type Written = { readonly file: string; readonly records: number; readonly counts: Readonly<Record<string, number>> }

export const command = defineCommand({
  name: 'export',
  heading: 'People',
  summary: 'export your records, or a complete marketplace, as NDJSON',
  description:
    'Exports your profile, listings, jobs, conversations, payments and balance, even while the marketplace is paused. Each line is {"kind": …, "record": …}. The last line has kind "end" and counts the others; an incomplete file is deleted. --all exports a complete marketplace for its operator, as a consistent snapshot, running or stopped. That file holds everybody\'s data: keep it private.',
  args: z.object({ file: z.string().meta({ description: 'file to write, - for stdout' }) }),
  options,
  examples: [
    'souk export mine.ndjson --yes',
    'souk export - --only job,message',
    "souk export - --jq '.kind'",
    'souk export --all market.ndjson --yes',
    'souk export --all -',
  ],
  run: (context) => run(context),
  view(item, io) {
    if ('records' in item && 'sha256' in item) wholeSaved(item, io)
    else if ('records' in item) written(item, io)
    else io.jsonLine(item)
  },
})

/** What the command prints. `exportWhole` writes `WrittenLine`s to stdout itself, unchanged, since they are hashed. */
type Printed = ExportLine | WrittenLine | Written | SavedState

async function* run(context: Context): AsyncGenerator<Printed> {
  const { globals, io, args, options: wanted } = context
  const { file } = args
  refuseMixed(context)
  const what = wanted.all ? 'the whole marketplace' : 'your records'
  wouldDo(globals, `export ${what} to ${file}`)
  if (file !== STDOUT && existsSync(file)) await io.confirm(`Replace ${io.path(file)}?`)
  if (!wanted.all) return yield* own(context)
  const { exportWhole } = await import('../src/lifecycle/whole-state.ts')
  const saved = await exportWhole(context, file)
  if (file !== STDOUT) yield saved
}

function refuseMixed({ args: { file }, options: { all, only }, globals }: Context): void {
  if (all && only !== undefined) throw usage('--only and --all cannot be combined: --only filters your own records.')
  if (all && file === STDOUT && (globals.jq ?? globals.fields) !== undefined) {
    throw usage('--all cannot be combined with a filter: filter its output in a pipe.')
  }
}

async function* own(context: Context): AsyncGenerator<ExportLine | Written> {
  const { io, args, options: wanted } = context
  const session = await context.session()
  const { linesOf, saveLines } = await import('../src/cli/nouns/export-lines.ts')
  using progress = io.progress('exporting')
  const watch = (records: number, kind: string) => progress.update(`exporting   ${records} records   ${kind}`)
  const lines = linesOf(await session.open('getExport', { query: compact({ only: wanted.only }) }), watch)
  if (args.file === STDOUT) {
    for await (const { parsed } of lines) {
      yield parsed
      await io.flush() // write no faster than the reader reads
    }
  } else {
    const { records, counts } = await saveLines(args.file, lines)
    progress.stop()
    yield { file: args.file, records, counts }
  }
}

function written({ file, records, counts }: Written, io: Io): void {
  io.line(`${green('✓')} saved ${io.path(file)}   ${records} records`)
  const some = Object.entries(counts).filter(([, count]) => count > 0)
  for (const [kind, count] of some) io.note(`${String(count).padStart(8)}  ${kind}`)
}

function wholeSaved({ file, records, files, sha256 }: SavedState, io: Io): void {
  io.line(`${green('✓')} saved ${io.path(file ?? STDOUT)}   ${records} records and ${files} files`)
  io.line(`  sha256    ${sha256}`)
  if (file !== null) io.note(`  next      ${cyan(io.hint(shellLine`souk import ${file} --instance copy`))}`)
}
