import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCall } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'

type Day = WireAnswer<Api['getWatching']>['days'][number]

const columns: readonly Column<Day>[] = [
  { title: 'DAY', value: ({ date }) => date },
  { title: 'TRUST QUERIES', value: (day) => day.trust_queries, align: 'right' },
  { title: 'EXPLORER', value: (day) => day.explorer_interactions, align: 'right' },
  { title: 'CALLERS', value: (day) => day.distinct_callers, align: 'right' },
]

export const command = defineCall({
  name: 'stats watching',
  summary: 'show daily lookups of participants',
  description: 'Taken from a nightly snapshot (02:00 UTC). Before the first one, exits with code 7.',
  examples: ['souk stats watching', "souk stats watching -q '.days | first | .trust_queries'"],
  asks: 'getWatching',
  asked: () => ({}),
  rows: ({ days }) => days,
  columns,
  view({ as_of, days }, io) {
    printRows(io, columns, days)
    io.note(days.length === 0 ? `no whole day yet, as of ${as_of}` : `as of ${as_of}`)
  },
})
