// Writes commands/index.ts from the command files: names, summaries and headings are typed once, in those files.
import { readdirSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { api } from '../src/api/index.ts'
import { type Command, commandsIn } from '../src/cli/command.ts'
import { groups } from '../src/cli/run/groups.ts'
import { formatPrice } from '../src/core/money.ts'

const folder = fileURLToPath(new URL('../commands/', import.meta.url))
const NOT_COMMANDS = ['index.ts', 'groups.ts']
const WRITTEN = '// Written by `npm run commands` from the command files; a test fails when it is stale.'
const HEADINGS = ['Daemon', 'Market', 'Administration', 'Health and interface', 'Wallets and remotes', 'Other']

type Found = { file: string; command: Command }

/** Text of `commands/index.ts`, as the command files have it now: a line for each command. */
export async function commandIndex(): Promise<string> {
  const rows = (await findCommands()).flatMap(entriesOf).sort((a, b) => compare(a.rank, b.rank))
  const headings = [...Map.groupBy(rows, ({ heading }) => heading)].flatMap(([heading, all]) => [
    `  ${heading.includes(' ') ? quoted(heading) : heading}: [`,
    ...all.map(({ text }) => text),
    '  ],',
  ])
  return [
    WRITTEN,
    "import { entriesOf } from '../src/cli/command.ts'",
    '',
    'export const entries = entriesOf({',
    ...headings,
    '})',
    '',
  ].join('\n')
}

async function findCommands(): Promise<readonly Found[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.ts') && !/\.(test|testkit|fake)\.ts$/.test(file) && !NOT_COMMANDS.includes(file))
  const loaded = await Promise.all(files.map(async (file) => ({ file, module: await import(join(folder, file)) })))
  return loaded.flatMap(({ file, module }) => commandsIn(module).map((command) => ({ file, command })))
}

type Row = { readonly rank: string; readonly heading: string; readonly text: string }

function entriesOf({ file, command }: Found): Row[] {
  const names = [command.name, ...(command.aliases ?? [])]
  const price = priceOf(command)
  return names.map((name) => {
    const heading = headingOf(file, command)
    const marks = [
      ...(command.hidden || isOtherNoun(name) ? ['hidden: true'] : []),
      ...(command.isDefault ? ['isDefault: true'] : []),
      ...(price === undefined ? [] : ['pays: true']),
      ...(name === command.name ? [] : [`aliasOf: ${quoted(command.name)}`]),
    ]
    const members = [
      quoted(name),
      quoted(command.summary + (price ?? '')),
      `() => import(${quoted(`./${file}`)})`,
      ...(marks.length === 0 ? [] : [`{ ${marks.join(', ')} }`]),
    ]
    const rank = `${HEADINGS.indexOf(heading) + 1} ${command.name.replaceAll(' ', '/')}.ts ${name}`
    return { rank, heading, text: `    [${members.join(', ')}],` }
  })
}

/** What the summary says of the price: nothing if it varies. Undefined for a command that does not pay. */
function priceOf({ pays, prints }: Command): string | undefined {
  const endpoint = pays ?? prints
  const access = endpoint && api[endpoint].access
  if (access?.kind === 'paid') return access.price === 'varies' ? '' : ` (${formatPrice(access.price)})`
  return pays && access?.kind === 'key_or_paid' ? ` (${formatPrice(access.price)} if it is not yours)` : undefined
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
  writeFileSync(join(folder, 'index.ts'), await commandIndex())
}
