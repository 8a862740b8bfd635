// Writes commands/index.ts and a list for each heading from the command files: names, summaries and headings are typed
// once, in those files.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from '../src/cli/command.ts'
import { groups } from '../src/cli/run/groups.ts'

const folder = fileURLToPath(new URL('../commands/', import.meta.url))
const LISTS = 'entries/'
const NOT_COMMANDS = ['index.ts', 'groups.ts', 'outputs.ts']
const WRITTEN = '// Written by `npm run commands` from the command files; a test fails when it is stale.'
const HEADINGS = ['Daemon', 'Market', 'Administration', 'Health and interface', 'Wallets and remotes', 'Other']

const LINE_CHARS = 120

type Found = { file: string; command: Command }

/** The file of each command, by its name. */
export async function commandFiles(): Promise<ReadonlyMap<string, string>> {
  return new Map((await findCommands()).map(({ file, command }) => [command.name, join(folder, file)]))
}

/** The files that list the commands, as the command files have them now: text by place in `commands/`. */
export async function commandIndex(): Promise<ReadonlyMap<string, string>> {
  const entries = (await findCommands()).flatMap(entriesOf).sort((a, b) => compare(a.rank, b.rank))
  const lists = [...Map.groupBy(entries, ({ heading }) => heading)].map(listOf)
  return new Map([['index.ts', indexOf(lists)], ...lists.map(({ file, text }) => [file, text] as const)])
}

async function findCommands(): Promise<readonly Found[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.ts') && !/\.(test|testkit|fake)\.ts$/.test(file) && !NOT_COMMANDS.includes(file))
    .filter((file) => !file.startsWith(LISTS))
  const loaded = await Promise.all(files.map(async (file) => ({ file, module: await import(join(folder, file)) })))
  return loaded.flatMap(({ file, module }) => ('command' in module ? [{ file, command: module.command }] : []))
}

type List = { readonly heading: string; readonly name: string; readonly file: string; readonly text: string }

function listOf([heading, rows]: [string, Row[]]): List {
  const words = heading.toLowerCase().split(' ')
  const name = words.map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('')
  const text = [
    WRITTEN,
    "import type { EntryRow } from '../../src/cli/run/entries.ts'",
    '',
    `export const ${name}: readonly EntryRow[] = [`,
    ...rows.map((row) => row.text),
    ']',
    '',
  ]
  return { heading, name, file: `${LISTS}${words.join('-')}.ts`, text: text.join('\n') }
}

function indexOf(lists: readonly List[]): string {
  const imports = lists.map(({ name, file }) => `import { ${name} } from './${file}'`)
  const members = lists.map(({ heading, name }) => `  ${keyOf(heading)}: ${name},`)
  return [
    WRITTEN,
    "import { entriesOf } from '../src/cli/run/entries.ts'",
    ...imports.toSorted(),
    '',
    'export const entries = entriesOf({',
    ...members,
    '})',
    '',
  ].join('\n')
}

type Row = { readonly rank: string; readonly heading: string; readonly text: string }

function entriesOf({ file, command }: Found): Row[] {
  const names = [command.name, ...(command.aliases ?? [])]
  return names.map((name) => {
    const heading = headingOf(file, command)
    const marks = [
      ...(command.hidden || isOtherNoun(name) ? ['hidden: true'] : []),
      ...(command.isDefault ? ['isDefault: true'] : []),
      ...(name === command.name ? [] : [`aliasOf: ${quoted(command.name)}`]),
    ]
    const members = [
      quoted(name),
      quoted(command.summary),
      `() => import(${quoted(`../${file}`)})`,
      ...(marks.length === 0 ? [] : [`{ ${marks.join(', ')} }`]),
    ]
    const rank = `${HEADINGS.indexOf(heading) + 1} ${file} ${name}`
    return { rank, heading, text: rowOf(members) }
  })
}

/** As the formatter would have it: in one line where that fits. */
function rowOf(members: readonly string[]): string {
  const line = `  [${members.join(', ')}],`
  return line.length <= LINE_CHARS ? line : `  [\n${members.map((one) => `    ${one},`).join('\n')}\n  ],`
}

function keyOf(heading: string): string {
  return heading.includes(' ') ? quoted(heading) : heading
}

/** Another word for a noun: it works, and the help lists the noun itself. */
function isOtherNoun(name: string): boolean {
  const [noun = '', verb] = name.split(' ')
  return verb !== undefined && !groups.some((one) => one.name === noun)
}

function headingOf(file: string, command: Command): string {
  const { name } = command
  const noun = name.includes(' ') ? name.slice(0, name.lastIndexOf(' ')) : undefined
  const group = groups.find((one) => one.name === noun)
  return command.heading ?? group?.heading ?? (file.startsWith('daemon/') ? 'Daemon' : 'Other')
}

function quoted(text: string): string {
  return text.includes("'") ? JSON.stringify(text) : `'${text}'`
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(join(folder, LISTS), { recursive: true })
  for (const [file, text] of await commandIndex()) writeFileSync(join(folder, file), text)
}
