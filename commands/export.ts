import { existsSync } from 'node:fs'
import { z } from 'zod'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import type { Io } from '../src/cli/io.ts'
import type { ExportLine } from '../src/cli/nouns/export-lines.ts'
import { wouldDo } from '../src/cli/session.ts'
import { compact } from '../src/core/record.ts'
import { green } from '../src/text/text.ts'

const STDOUT = '-'

const options = z.object({
  only: z
    .string()
    .optional()
    .meta({ description: 'some kinds of records, such as job,message,payment', value: 'kinds' }),
})
type Wanted = CommandContext<{ file: string }, z.output<typeof options>>

/** What was written, and how many records of each kind it holds. */
type Written = { readonly file: string; readonly records: number; readonly counts: Readonly<Record<string, number>> }

export const command = defineCommand({
  name: 'export',
  heading: 'People',
  summary: 'save all your own records as NDJSON, one a line',
  description:
    'Profile, listings, jobs, conversations, payments, balance and all else that is yours; it works while the marketplace is paused. Each line is {"kind": …, "record": …}; the last one, of kind "end", counts the others, and a file is only kept when that came.',
  args: z.object({ file: z.string().meta({ description: 'where to, or - for stdout' }) }),
  options,
  examples: ['souk export mine.ndjson --yes', 'souk export - --only job,message', "souk export - --jq '.kind'"],
  run: (context) => run(context),
  view: (item, io) => ('kind' in item ? io.jsonLine(item) : written(item, io)),
})

async function* run(context: Wanted): AsyncGenerator<ExportLine | Written> {
  const { globals, io, args } = context
  wouldDo(globals, `export your records to ${args.file}`)
  if (args.file !== STDOUT && existsSync(args.file)) await io.confirm(`Replace ${io.path(args.file)}?`)
  const session = await context.session()
  const { linesOf, saveLines } = await import('../src/cli/nouns/export-lines.ts')
  const progress = io.progress('exporting')
  const watch = (records: number, kind: string) => progress.update(`exporting   ${records} records   ${kind}`)
  try {
    const lines = linesOf(await session.open('getExport', { query: compact({ only: context.options.only }) }), watch)
    if (args.file === STDOUT) {
      for await (const { parsed } of lines) {
        yield parsed
        await io.flush() // no faster than it is read
      }
    } else {
      const { records, counts } = await saveLines(args.file, lines)
      progress.stop()
      yield { file: args.file, records, counts }
    }
  } finally {
    progress.stop()
  }
}

function written({ file, records, counts }: Written, io: Io): void {
  io.line(`${green('✓')} saved ${io.path(file)}   ${records} records`)
  const some = Object.entries(counts).filter(([, count]) => count > 0)
  for (const [kind, count] of some) io.note(`${String(count).padStart(8)}  ${kind}`)
}
