import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { green, red } from '../../text/text.ts'
import type { Column } from '../output.ts'

/** A message to an endpoint with its tries. */
export type ListedDelivery = WireAnswer<Api['listDeliveries']>['deliveries'][number]

const signs: Partial<Record<ListedDelivery['status'], string>> = { delivered: green('✓'), dead: red('✗') }

export const columns: readonly Column<ListedDelivery>[] = [
  { title: 'DELIVERY', value: ({ delivery_id: id }) => id },
  { title: 'EVENT', value: ({ type }) => type },
  {
    title: 'STATUS',
    value: ({ status }) => `${signs[status] ?? '–'} ${status}`,
    plain: ({ status }) => status,
  },
  { title: 'TRIES', value: ({ attempts }) => attempts.length, align: 'right' },
  { title: 'NEXT', value: ({ next_attempt_at: at }) => at, drop: 1 },
  { title: 'LAST', value: (delivery) => lastOf(delivery), flexible: true, drop: 2 },
  { title: 'SERVICE', value: ({ service_id: id }) => id, drop: 3 },
  { title: 'MADE', value: ({ created_at: at }) => at, drop: 4 },
]

/** Why it ended, or what came of the last try. */
function lastOf({ reason, attempts }: ListedDelivery): string | null {
  const last = attempts.at(-1)
  return reason ?? last?.error ?? (last?.status === undefined ? null : String(last.status))
}
