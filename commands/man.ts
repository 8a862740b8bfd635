import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, type CommandContext, defineCommand, type Entry } from '../src/cli/command.ts'
import { exitMeanings, exits, usage } from '../src/cli/exit.ts'
import { globalOptions } from '../src/cli/globals.ts'
import * as z from '../src/cli/params.ts'
import { groups } from '../src/cli/run/groups.ts'
import { topics } from '../src/cli/run/help-topics.ts'
import { flagOf, membersOf, type OptionShape } from '../src/cli/run/schema.ts'
import { wouldDo } from '../src/cli/session.ts'
import { replaceFile, writePrivate } from '../src/client/files.ts'
import { makeFolder } from '../src/core/folder.ts'
import { fitted, green, kebab, nearest } from '../src/text/text.ts'

const FOLDER_MODE = 0o755
const FILE_MODE = 0o644

const options = z.object({
  dir: z.text({ description: 'write all pages into a folder', value: 'dir' }),
})
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
  const near = nearest(name, [...shown, ...Object.keys(topics)])
  throw usage(`There is no manual page of "${name}"${near ? ` (did you mean ${near}?)` : ''}.`, { next: ['souk help'] })
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

const LINE_CHARS = 76
const COMMANDS = '1'
const TOPICS = '7'

export type ManPage = { readonly file: string; readonly text: string }

type Making = { readonly entries: readonly Entry[]; readonly version: string; readonly date: string }

/** All manual pages: of the program, nouns, commands and topics. */
export async function manPages(making: Making): Promise<readonly ManPage[]> {
  const shown = shownIn(making)
  const commands = await Promise.all(shown.map(async (entry) => commandPage(making, (await entry.load()).command)))
  const nouns = groups.map(({ name }) => nounPage(making, name))
  const about = Object.entries(topics).map(([name, text]) => topicPage(making, name, text))
  return [rootPage(making), ...nouns, ...commands, ...about]
}

/** Page of a command, noun or topic; without words, of the program. @returns undefined if unknown */
export async function manPage(making: Making, words: readonly string[]): Promise<ManPage | undefined> {
  const name = words.join(' ')
  if (name === '') return rootPage(making)
  const entry = making.entries.find((one) => one.name === name)
  if (entry) return commandPage(making, (await entry.load()).command)
  if (groups.some((group) => group.name === name)) return nounPage(making, name)
  const text = topics[name]
  return text === undefined ? undefined : topicPage(making, name, text)
}

function shownIn({ entries }: Making): readonly Entry[] {
  return entries.filter(({ hidden, aliasOf }) => !hidden && aliasOf === undefined)
}

function pageName(name: string): string {
  return ['souk', ...name.split(' ')].filter(Boolean).join('-')
}

type Head = { readonly name: string; readonly section: string; readonly summary: string }

function page({ version, date }: Making, { name, section, summary }: Head, body: readonly string[]): ManPage {
  const title = pageName(name)
  const head = [
    `.TH ${title.toUpperCase()} ${section} ${date} "souk ${version}" "Souk Manual"`,
    '.SH NAME',
    `${escaped(title)} \\- ${escaped(summary)}`,
  ]
  return { file: `${title}.${section}`, text: `${[...head, ...body].join('\n')}\n` }
}

function rootPage(making: Making): ManPage {
  const shown = shownIn(making)
  const verbs = shown.filter(({ name }) => !name.includes(' '))
  const nouns = groups.filter(({ name }) => !name.includes(' '))
  const rows = [...nouns, ...verbs].toSorted((a, b) => a.name.localeCompare(b.name))
  return page(making, { name: '', section: COMMANDS, summary: 'a marketplace for agent services, on this machine' }, [
    '.SH SYNOPSIS',
    '.B souk',
    '.I command',
    '.RI [ options ]',
    '.SH COMMANDS',
    ...rows.flatMap(({ name, summary }) => ['.TP', `.B ${escaped(name)}`, ...filled(summary)]),
    '.SH OPTIONS',
    ...globalOptions
      .filter((option) => !('hidden' in option))
      .flatMap(({ flags, summary }) => ['.TP', `.B ${escaped(flags)}`, ...filled(summary)]),
    '.SH EXIT STATUS',
    ...Object.entries(exitMeanings).flatMap(([name, meaning]) => [
      '.TP',
      `.B ${exits[name as keyof typeof exits]}`, // each name is a key of `exits`
      ...filled(meaning),
    ]),
    ...seeAlso(Object.keys(topics).map((topic) => [topic, TOPICS])),
  ])
}

function nounPage(making: Making, noun: string): ManPage {
  const summary = groups.find(({ name }) => name === noun)?.summary ?? ''
  const below = shownIn(making).filter(({ name }) => name.startsWith(`${noun} `))
  return page(making, { name: noun, section: COMMANDS, summary }, [
    '.SH SYNOPSIS',
    `.B souk ${escaped(noun)}`,
    '.I command',
    '.SH COMMANDS',
    ...below.flatMap(({ name, summary: what }) => ['.TP', `.B ${escaped(`souk ${name}`)}`, ...filled(what)]),
    ...seeAlso([['', COMMANDS], ...below.map(({ name }) => [name, COMMANDS] as const)]),
  ])
}

function commandPage(making: Making, command: Command): ManPage {
  const { name, summary, description, aliases = [], examples } = command
  const args = membersOf(command.args)
  const options = membersOf(command.options)
  const words = args.map(([key, shape]) => argumentOf(key, shape)).join(' ')
  return page(making, { name, section: COMMANDS, summary }, [
    '.SH SYNOPSIS',
    `.B souk ${escaped(name)}`,
    ...(words === '' ? [] : [`.I ${escaped(words)}`]),
    '.RI [ options ]',
    ...aliases.flatMap((alias) => ['.br', `.B souk ${escaped(alias)}`]),
    '.SH DESCRIPTION',
    ...filled(`${sentence(summary)}${description === undefined ? '' : `\n${description}`}`),
    ...(args.length === 0
      ? []
      : ['.SH ARGUMENTS', ...args.flatMap(([key, shape]) => ['.TP', `.I ${escaped(kebab(key))}`, ...about(shape)])]),
    ...(options.length === 0
      ? []
      : [
          '.SH OPTIONS',
          ...options.flatMap(([key, shape]) => ['.TP', `.B ${escaped(flags(key, shape))}`, ...about(shape)]),
        ]),
    ...filled('Global options: see souk(1).').map((line, at) => (at === 0 ? `.PP\n${line}` : line)),
    '.SH EXAMPLES',
    ...examples.flatMap((line, at) => [...(at === 0 ? [] : ['.PP']), '.nf', ...literal(line), '.fi']),
    ...seeAlso([['', COMMANDS], ...parents(name), ['exit-codes', TOPICS]]),
  ])
}

function topicPage(making: Making, name: string, text: string): ManPage {
  return page(making, { name, section: TOPICS, summary: `about ${name.replaceAll('-', ' ')} of souk` }, [
    '.SH DESCRIPTION',
    '.nf',
    ...fitted(text, LINE_CHARS).split('\n').flatMap(literal),
    '.fi',
    ...seeAlso([['', COMMANDS]]),
  ])
}

function parents(name: string): readonly (readonly [string, string])[] {
  const words = name.split(' ').slice(0, -1)
  return words.map((_, at) => [words.slice(0, at + 1).join(' '), COMMANDS] as const)
}

function seeAlso(pages: readonly (readonly [name: string, section: string])[]): readonly string[] {
  const rows = pages.map(([name, section], at) => {
    const comma = at < pages.length - 1 ? ' ,' : ''
    return `.BR ${escaped(pageName(name))} (${section})${comma}`
  })
  return ['.SH SEE ALSO', ...rows]
}

function argumentOf(key: string, { list, required }: OptionShape): string {
  const word = `${kebab(key)}${list ? '...' : ''}`
  return required ? word : `[${word}]`
}

function flags(key: string, shape: OptionShape): string {
  const short = shape.short === undefined ? '' : `-${shape.short}, `
  return `${short}${flagOf(key, shape)}${shape.kind === 'flag' ? '' : ` <${shape.value}>`}`
}

function about({ summary, list, fallback }: OptionShape): readonly string[] {
  const isTold = fallback !== undefined && typeof fallback !== 'boolean' && !Array.isArray(fallback)
  return filled(`${summary}${list ? ' (repeatable)' : ''}${isTold ? ` (default: ${String(fallback)})` : ''}`)
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?)]$/.test(text) ? '' : '.'}`
}

/** Wraps text. Each line of the text becomes a paragraph. */
function filled(text: string): readonly string[] {
  return text.split('\n').flatMap((paragraph, at) => [...(at === 0 ? [] : ['.PP']), ...broken(paragraph).map(escaped)])
}

function broken(text: string): readonly string[] {
  const lines = ['']
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length >= LINE_CHARS) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
    .map((line) => (line === '' ? '\\&' : line))
    .filter((line, at, all) => all.length === 1 || line !== '\\&' || at === 0)
}

function literal(line: string): readonly string[] {
  return [line === '' ? '\\&' : escaped(line)]
}

/** Escapes macro characters and non-ASCII. */
function escaped(text: string): string {
  const plain = text === '\\&' ? text : text.replaceAll('\\', '\\e').replaceAll('-', '\\-')
  const coded = plain.replace(/[^\u0020-\u007E]/gu, (sign) => `\\[u${codeOf(sign)}]`)
  const quoted = coded.replaceAll('"', '\\(dq').replaceAll("'", '\\(aq').replaceAll('`', '\\(ga')
  return /^[.]/.test(quoted) ? `\\&${quoted}` : quoted.replaceAll('^', '\\(ha').replaceAll('~', '\\(ti')
}

function codeOf(sign: string): string {
  return (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}
