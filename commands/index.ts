import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { api } from '../src/api/index.ts'
import { type Command, commandsIn, type Entry, entriesOf } from '../src/cli/command.ts'
import { groups } from '../src/cli/run/groups.ts'
import { formatPrice } from '../src/core/money.ts'

/* All commands, as the files of this folder declare them. The build stores the table, and loads a file to run it. */

/** Headings that are not first in the help, in order. */
const HEADINGS = ['Daemon', 'Market', 'Administration', 'Health and interface', 'Wallets and remotes', 'Other']
const NOT_COMMANDS: ReadonlySet<string> = new Set(['index.ts', 'start.ts'])

type Marks = Pick<Entry, 'hidden' | 'isDefault' | 'pays' | 'aliasOf'>
type Row = readonly [name: string, summary: string, file: string, marks: Marks]
type Found = { readonly rank: string; readonly heading: string; readonly row: Row }

/** The rows of each heading, in help order. */
export const table: ReadonlyMap<string, readonly Row[]> = await tableOfFiles()

export const entries = entriesOf(
  Object.fromEntries(
    [...table].map(([heading, rows]) => [
      heading,
      rows.map(([name, summary, file, marks]) => [name, summary, () => loaded(file), marks] as const),
    ]),
  ),
)

function loaded(file: string): Promise<Readonly<Record<string, unknown>>> {
  return import(join(import.meta.dirname, file))
}

async function tableOfFiles(): Promise<ReadonlyMap<string, readonly Row[]>> {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll(sep, '/'))
    .filter((file) => /^[^.]+\.ts$/.test(file) && !NOT_COMMANDS.has(file))
  const found = await Promise.all(
    files.map(async (file) => commandsIn(await loaded(file)).flatMap((command) => rowsOf(file, command))),
  )
  const sorted = found.flat().sort((one, other) => (one.rank < other.rank ? -1 : 1))
  const byHeading = Map.groupBy(sorted, ({ heading }) => heading)
  return new Map([...byHeading].map(([heading, all]) => [heading, all.map(({ row }) => row)]))
}

/** A command by each of its names. */
function rowsOf(file: string, command: Command): readonly Found[] {
  return [command.name, ...(command.aliases ?? [])].map((name) => {
    const heading = headingOf(file, command)
    const price = priceOf(command)
    const marks: Marks = {
      ...(command.hidden || isOtherNoun(name) ? { hidden: true } : {}),
      ...(command.isDefault ? { isDefault: true } : {}),
      ...(price === undefined ? {} : { pays: true }),
      ...(name === command.name ? {} : { aliasOf: command.name }),
    }
    const rank = `${HEADINGS.indexOf(heading) + 1} ${command.name.replaceAll(' ', '/')}.ts ${name}`
    return { rank, heading, row: [name, command.summary + (price ?? ''), file, marks] }
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

function headingOf(file: string, { name, heading }: Command): string {
  const noun = name.includes(' ') ? name.slice(0, name.lastIndexOf(' ')) : undefined
  const group = groups.find((one) => one.name === noun)
  return heading ?? group?.heading ?? (file.startsWith('daemon/') ? 'Daemon' : 'Other')
}
