import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import { bad, count, good, id, name, state, type Toned, time, word } from './columns.ts'
import type { Noun } from './noun.ts'

/** A message to an endpoint with its tries. */
export type Delivery = WireAnswer<Api['listDeliveries']>['deliveries'][number]

const signed: Partial<Record<Delivery['status'], Toned>> = { delivered: good('✓ delivered'), dead: bad('✗ dead') }
const stateOf = ({ status }: Delivery) => signed[status] ?? `– ${status}`

/** Why it ended, or what came of the last try. */
function lastOf({ reason, attempts }: Delivery): string | null {
  const last = attempts.at(-1)
  return reason ?? last?.error ?? (last?.status === undefined ? null : String(last.status))
}

export const delivery: Noun<Delivery> = {
  name: 'delivery',
  plural: 'deliveries',
  list: 'getWebhooks',
  none: 'no such delivery',
  idOf: ({ delivery_id }) => delivery_id,
  nameOf: ({ type }) => type,
  stateOf,
  columns: [
    id('DELIVERY', ({ delivery_id }) => delivery_id),
    word('EVENT', ({ type }) => type),
    state('STATUS', stateOf, { plain: ({ status }) => status }),
    count('TRIES', ({ attempts }) => attempts.length),
    time('NEXT', ({ next_attempt_at }) => next_attempt_at, { drop: 1 }),
    name('LAST', lastOf, { drop: 2 }),
    word('SERVICE', ({ service_id }) => service_id, { drop: 3 }),
    time('MADE', ({ created_at }) => created_at, { drop: 4 }),
  ],
  nextOf: ({ delivery_id, status }) => (status === 'dead' ? `souk webhooks replay ${delivery_id}` : undefined),
}
