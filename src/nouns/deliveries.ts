import type { WireAnswer } from '../api/index.ts'
import { count as grouped } from '../text/text.ts'
import { timeOrDay } from '../text/time.ts'
import * as column from './columns.ts'
import type { Noun } from './noun.ts'
import { accent, bad, dim, good, type Toned } from './tones.ts'

export type Delivery = WireAnswer<'listDeliveries'>['deliveries'][number]

const states: Readonly<Record<Delivery['status'], Toned>> = {
  pending: accent('● pending'),
  delivered: good('✓ delivered'),
  dead: bad('✗ dead'),
  dropped: dim('– dropped'),
}
const stateOf = ({ status }: Delivery): Toned => states[status] ?? `– ${status}`

/** Time of the last attempt, in epoch milliseconds. Before the first attempt, the time of creation. */
export function sentAt({ attempts, created_at }: Delivery): number {
  return Date.parse(attempts.at(-1)?.at ?? created_at)
}

/** Why the delivery ended. While it has not ended, the result of the last attempt. */
export function lastOf({ reason, attempts }: Delivery): string | null {
  const last = attempts.at(-1)
  return reason ?? last?.error ?? (last?.status === undefined ? null : String(last.status))
}

function answerOf({ attempts }: Delivery): string | undefined {
  const last = attempts.at(-1)
  return last && String(last.status ?? 'none')
}

function tookOf({ attempts }: Delivery): string | undefined {
  const last = attempts.at(-1)
  return last && `${grouped(last.latency_ms)} ms`
}

const TOLD = { on: ['own', 'all'] } as const

export const delivery: Noun<Delivery> = {
  name: 'delivery',
  plural: 'deliveries',
  list: 'getWebhooks',
  none: 'no such delivery',
  source: ['participants with a webhook URL get them', 'souk account edit --webhook URL'],
  idOf: ({ delivery_id }) => delivery_id,
  nameOf: ({ type }) => type,
  stateOf,
  columns: [
    column.id('DELIVERY', ({ delivery_id }) => delivery_id),
    column.time('TIME', (row, now) => timeOrDay(sentAt(row), now ?? sentAt(row)), { on: ['screen'] }),
    column.word('EVENT', ({ type }) => type, { min: 12 }),
    column.name('TO', ({ url }) => url, { min: 16, on: ['screen'] }),
    column.state('STATUS', stateOf, { plain: ({ status }) => status }),
    column.word('ANSWER', answerOf, { drop: 1, on: ['screen'] }),
    { ...column.word('TOOK', tookOf, { drop: 3, on: ['screen'] }), kind: 'count' },
    column.count('TRIES', ({ attempts }) => attempts.length, { drop: 2 }),
    column.time('NEXT', ({ next_attempt_at }) => next_attempt_at, { drop: 1, ...TOLD }),
    column.name('LAST', lastOf, { drop: 2, ...TOLD }),
    column.word('SERVICE', ({ service_id }) => service_id, { drop: 3, ...TOLD }),
    column.time('MADE', ({ created_at }) => created_at, { drop: 4, ...TOLD }),
    column.id('JOB', ({ job_id }) => job_id, { drop: 4, on: ['screen'] }),
  ],
  nextOf: ({ delivery_id, status }) => (status === 'dead' ? `souk webhooks replay ${delivery_id}` : undefined),
}
