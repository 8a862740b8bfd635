import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Column } from '../output.ts'
import { cronState } from './health.ts'

export type ListedCron = WireAnswer<Api['listCrons']>['crons'][number]

export const columns: readonly Column<ListedCron>[] = [
  { title: 'CRON', value: ({ name }) => name },
  { title: 'STATE', value: (cron) => (cron.paused ? 'paused' : cronState(cron)) },
  { title: 'LAST OK', value: ({ last_success }) => last_success, drop: 1 },
  { title: 'LAST FAIL', value: ({ last_failure }) => last_failure, drop: 3 },
  { title: 'NEXT', value: ({ next_run }) => next_run, drop: 2 },
]
