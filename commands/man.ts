import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type CommandContext, defineCommand, type Entry } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { groups } from '../src/cli/run/groups.ts'
import { topics } from '../src/cli/run/help-topics.ts'
import { parseWords } from '../src/cli/run/mount.ts'
import { wouldDo } from '../src/cli/session.ts'
import { replaceFile, writePrivate } from '../src/client/files.ts'
import { makeFolder } from '../src/core/folder.ts'
import { didYouMean, fitted, green } from '../src/text/text.ts'

const FOLDER_MODE = 0o755
const FILE_MODE = 0o644

const options = z.object({ dir: z.text({ description: 'write all pages into a folder', value: 'dir' }) })
type Context = CommandContext<{ readonly words: readonly string[] }, z.output<typeof options>>

export const command = defineCommand({
  name: 'man',
  heading: 'Other',
  summary: 'show the manual page of a command, or write all of them',
  description:
    'Opens the page in man; in a pipe, prints its source. To let man find all pages, write them to a folder in MANPATH: `souk man --dir ~/.local/share/man/man1`.',
  args: z.object({ words: z.list({ description: 'command or topic' }) }),
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

function unknown({ args, entries }: Context): never {
  const name = args.words.join(' ')
  const shown = entries.filter(({ hidden }) => !hidden).map((entry) => entry.name)
  const meant = didYouMean(name, [...shown, ...Object.keys(topics)])
  throw usage(`There is no manual page of "${name}"${meant}.`, { next: ['souk help'] })
}

/** Shows the page in man, which needs a file. @returns false if man is missing, so that the caller prints the page */
async function shownByMan({ system, places }: Context, page: ManPage): Promise<boolean> {
  const file = join(places.cache, 'man', page.file)
  writePrivate(file, page.text)
  try {
    return await system.foreground(['man', file])
  } finally {
    rmSync(file, { force: true })
  }
}

function written({ globals, options: { dir = '' }, args }: Context, pages: readonly ManPage[]) {
  if (args.words.length > 0) throw usage('--dir writes all pages: omit the command.')
  wouldDo(globals, `write ${pages.length} pages into ${dir}`)
  makeFolder(dir, FOLDER_MODE)
  for (const { file, text } of pages) replaceFile(join(dir, file), text, FILE_MODE)
  return { kind: 'written' as const, folder: dir, pages: pages.map(({ file }) => file) }
}

const WIDTH = 78
/** Manual sections of commands and of topics. */
const COMMANDS = '1'
const TOPICS = '7'
const ROOT_SUMMARY = 'a marketplace for agent services, on this machine'

type ManPage = { readonly file: string; readonly text: string }

type Making = { readonly entries: readonly Entry[]; readonly version: string; readonly date: string }

/** Names and summaries of what has a page: the program, nouns and commands. */
function subjects({ entries }: Making): ReadonlyMap<string, string> {
  const shown = entries.filter(({ hidden, aliasOf }) => !hidden && aliasOf === undefined)
  return new Map([['', ROOT_SUMMARY], ...[...groups, ...shown].map(({ name, summary }) => [name, summary] as const)])
}

async function manPages(making: Making): Promise<readonly ManPage[]> {
  const commands = [...subjects(making)].map(([name, summary]) => helpPage(making, name, summary))
  return [...(await Promise.all(commands)), ...Object.keys(topics).map((name) => topicPage(making, name))]
}

/** Page of a command, alias, noun or topic; without words, of the program. @returns undefined if unknown */
async function manPage(making: Making, words: readonly string[]): Promise<ManPage | undefined> {
  const name = words.join(' ')
  const alias = making.entries.find((one) => one.name === name)?.aliasOf
  const summary = subjects(making).get(alias ?? name)
  if (summary !== undefined) return helpPage(making, alias ?? name, summary)
  return Object.hasOwn(topics, name) ? topicPage(making, name) : undefined
}

/** The help of a command or noun as a page. */
async function helpPage(making: Making, name: string, summary: string): Promise<ManPage> {
  const words = [...name.split(' ').filter(Boolean), '--help']
  const help = await parseWords({ ...making, groups, width: WIDTH }, words)
  return page(making, { name, section: COMMANDS, summary }, 'text' in help ? help.text : '')
}

function topicPage(making: Making, name: string): ManPage {
  const summary = `about ${name.replaceAll('-', ' ')} of souk`
  return page(making, { name, section: TOPICS, summary }, fitted(topics[name] ?? '', WIDTH))
}

type Head = { readonly name: string; readonly section: string; readonly summary: string }

const HEADING = /^(Usage|Arguments|Options|Commands|Examples|Global options|See also):(?: (.+))?$/

function sectionsOf(help: string) {
  const sections = [{ heading: 'DESCRIPTION', lines: [] as string[] }]
  for (const line of help.split('\n')) {
    const [, heading, rest] = HEADING.exec(line) ?? []
    const lines = rest === undefined ? [] : [rest]
    if (heading === 'Usage') sections.unshift({ heading: 'SYNOPSIS', lines })
    else if (heading !== undefined) sections.push({ heading: heading.toUpperCase(), lines })
    else sections.at(-1)?.lines.push(line)
  }
  return sections
}

function page({ version, date }: Making, { name, section, summary }: Head, help: string): ManPage {
  const title = ['souk', ...name.split(' ')].filter(Boolean).join('-')
  const lines = [
    `.TH ${title.toUpperCase()} ${section} ${date} "souk ${version}" "Souk Manual"`,
    '.SH NAME',
    `${escaped(title)} \\- ${escaped(summary)}`,
    ...sectionsOf(help).flatMap(({ heading, lines: own }) => {
      const text = own.join('\n').replace(/^\n+|\n+$/g, '')
      return [`.SH ${heading}`, '.nf', ...text.split('\n').map(escaped), '.fi']
    }),
  ]
  return { file: `${title}.${section}`, text: `${lines.join('\n')}\n` }
}

/** Escapes macro characters and non-ASCII. An empty line stays one. */
function escaped(text: string): string {
  const plain = text.replaceAll('\\', '\\e').replaceAll('-', '\\-')
  const coded = plain.replace(/[^\u0020-\u007E]/gu, (sign) => `\\[u${codeOf(sign)}]`)
  const quoted = coded.replaceAll('"', '\\(dq').replaceAll("'", '\\(aq').replaceAll('`', '\\(ga')
  return /^(\.|$)/.test(quoted) ? `\\&${quoted}` : quoted.replaceAll('^', '\\(ha').replaceAll('~', '\\(ti')
}

function codeOf(sign: string): string {
  return (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}
