import type { WireAnswer } from '../../src/api/endpoint.ts'
import type { Api } from '../../src/api/index.ts'
import type { Column } from '../../src/cli/output.ts'
import { cronState } from '../health/brief.ts'

export type Cron = WireAnswer<Api['listCrons']>['crons'][number]

export const columns: readonly Column<Cron>[] = [
  { title: 'CRON', value: ({ name }) => name },
  { title: 'STATE', value: (cron) => (cron.paused ? 'paused' : cronState(cron)) },
  { title: 'LAST OK', value: ({ last_success }) => last_success, drop: 1 },
  { title: 'LAST FAIL', value: ({ last_failure }) => last_failure, drop: 3 },
  { title: 'NEXT', value: ({ next_run }) => next_run, drop: 2 },
]
