import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { topics } from '../src/cli/run/help-topics.ts'
import { type ManPage, manPage, manPages } from '../src/cli/run/man-pages.ts'
import { wouldDo } from '../src/cli/session.ts'
import { replaceFile, writePrivate } from '../src/client/files.ts'
import { makeFolder } from '../src/core/folder.ts'
import { green, nearest } from '../src/text/text.ts'

const FOLDER_MODE = 0o755
const FILE_MODE = 0o644

const options = z.object({
  dir: z.string().optional().meta({ description: 'write all pages into a folder', value: 'dir' }),
})
type Host = CommandContext<{ readonly words: readonly string[] }, z.output<typeof options>>

export const command = defineCommand({
  name: 'man',
  heading: 'Other',
  summary: 'show the manual page of a command, or write all of them',
  description:
    'Opens the page in man; in a pipe, prints its source. To let man find all pages, write them to a folder in MANPATH: `souk man --dir ~/.local/share/man/man1`.',
  args: z.object({ words: z.array(z.string()).default([]).meta({ description: 'command or topic' }) }),
  options,
  ownText: true,
  ownForm: true,
  examples: ['souk man services list', 'souk man --dir ./downloads --json'],
  async run(context) {
    const { args, entries, system, io } = context
    const making = { entries, version: system.version, date: new Date(io.now()).toISOString().slice(0, 10) }
    if (context.options.dir !== undefined) return written(context, await manPages(making))
    const page = (await manPage(making, args.words)) ?? unknown(context)
    const isShown = io.isTty && io.settings.format === 'human' && (await shownByMan(context, page))
    return { kind: 'page' as const, page: page.file, shown: isShown, text: page.text }
  },
  view(data, io) {
    if (data.kind === 'written') io.line(`${green('✓')} ${data.pages.length} pages   ${io.path(data.folder)}`)
    else if (!data.shown) io.line(data.text.trimEnd())
  },
})

function unknown({ args, entries }: Host): never {
  const name = args.words.join(' ')
  const shown = entries.filter(({ hidden }) => !hidden).map((entry) => entry.name)
  const near = nearest(name, [...shown, ...Object.keys(topics)])
  throw usage(`There is no manual page of "${name}"${near ? ` (did you mean ${near}?)` : ''}.`, { next: ['souk help'] })
}

/** man reads a file; where there is no man the page is printed as it is. */
async function shownByMan({ system, places }: Host, page: ManPage): Promise<boolean> {
  const file = join(places.cache, 'man', page.file)
  writePrivate(file, page.text)
  try {
    return await system.foreground(['man', file])
  } finally {
    rmSync(file, { force: true })
  }
}

function written({ globals, options: { dir = '' }, args }: Host, pages: readonly ManPage[]) {
  if (args.words.length > 0) throw usage('--dir writes every page: name no command.')
  wouldDo(globals, `write ${pages.length} pages into ${dir}`)
  makeFolder(dir, FOLDER_MODE)
  for (const { file, text } of pages) replaceFile(join(dir, file), text, FILE_MODE)
  return { kind: 'written' as const, folder: dir, pages: pages.map(({ file }) => file) }
}
