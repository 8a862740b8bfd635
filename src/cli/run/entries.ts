import type { Entry } from '../command.ts'

/** Name, summary, and how its file is loaded; then what only some commands have. */
export type EntryRow = readonly [
  name: string,
  summary: string,
  load: Entry['load'],
  more?: Pick<Entry, 'hidden' | 'isDefault' | 'aliasOf'>,
]

/** Every command, in the order of the help text. */
export function entriesOf(byHeading: Readonly<Record<string, readonly EntryRow[]>>): readonly Entry[] {
  return Object.entries(byHeading).flatMap(([heading, rows]) =>
    rows.map(([name, summary, load, more]) => ({ name, summary, heading, ...more, load })),
  )
}
