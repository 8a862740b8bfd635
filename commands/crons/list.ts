import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCall } from '../../src/cli/command.ts'
import { cronState } from '../../src/cli/nouns/health.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { watchOptions } from '../../src/cli/run/watched.ts'

type ListedCron = WireAnswer<Api['listCrons']>['crons'][number]

const columns: readonly Column<ListedCron>[] = [
  { title: 'CRON', value: ({ name }) => name },
  { title: 'STATE', value: (cron) => (cron.paused ? 'paused' : cronState(cron)) },
  { title: 'LAST OK', value: ({ last_success }) => last_success, drop: 1 },
  { title: 'LAST FAIL', value: ({ last_failure }) => last_failure, drop: 3 },
  { title: 'NEXT', value: ({ next_run }) => next_run, drop: 2 },
]

export const command = defineCall({
  name: 'crons list',
  summary: 'list scheduled jobs and their state',
  options: z.object(watchOptions),
  examples: ['souk crons list', 'souk crons list --json'],
  asks: 'listCrons',
  asked: () => ({}),
  rows: ({ crons }) => crons,
  columns,
  view({ crons, automatic }, io) {
    printRows(io, columns, crons)
    if (!automatic) io.note('this daemon runs none by itself (--crons off)')
  },
})
