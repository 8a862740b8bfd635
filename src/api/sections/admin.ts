import { z } from 'zod'
import { Address, Amount, idOf, namedObject, Time } from '../../core/codecs.ts'
import { logLevels, partyRoles } from '../../model/words.ts'
import { queryInt } from '../endpoint/common.ts'
import { adminEndpoint, bytes, events, json, jsonBody, stream } from '../endpoint/define.ts'

const MAX_LOG_LINES = 1_000

/** Maximum number of past events with which a stream may start. */
const MAX_EVENTS_BACK = 200

export const partyFilter = {
  participant: z
    .union([idOf('participant'), Address], 'must be a participant id or a wallet')
    .optional()
    .meta({ description: 'a party of the job: participant id or wallet' }),
  role: z.enum(partyRoles).optional().meta({ description: 'role of that party' }),
}

/** Names and amount to show with an event. A member is null if the event has none. */
export const EventAbout = namedObject('EventAbout', {
  service: z.string().nullable(),
  buyer: z.string().nullable().meta({ description: 'participant name, or wallet if not registered' }),
  provider: z.string().nullable(),
  amount: Amount.nullable(),
  method: z.string().nullable().meta({ description: 'how the purchase was paid' }),
})

/** One entry of the durable event log. */
export const MarketEvent = namedObject('MarketEvent', {
  id: idOf('event'),
  event_id: idOf('event'),
  cursor: z.int(),
  at: Time,
  type: z.string(),
  participant_id: idOf('participant').nullable(),
  subject: z.strictObject({ kind: z.string(), id: z.string() }),
  data: z.record(z.string(), z.json()),
  tx: z.int().optional().meta({ description: 'id of the event’s transaction, also the cursor of its first event' }),
  about: EventAbout.optional(),
})

export const operatorApi = {
  faucet: adminEndpoint({
    path: '/dashboard/api/admin/faucet',
    body: jsonBody({
      wallet: Address,
      amount: Amount,
      identity: z.literal(true).optional().meta({ description: 'also registers an ERC-8004 identity of the wallet' }),
    }),
    reply: json({
      wallet: Address,
      credited: Amount,
      balance: Amount,
      transaction: z.string(),
      identity: z.strictObject({ agent_registry: z.string(), agent_id: z.string() }).optional(),
    }),
    errors: ['unavailable'],
    summary: 'test USDC to a wallet (sandbox, devnet)',
  }),

  streamEvents: adminEndpoint({
    path: '/dashboard/api/admin/events',
    query: z.strictObject({
      cursor: queryInt({ min: 0, max: 999_999_999 }).optional().meta({ description: 'last event already seen' }),
      last: queryInt({ min: 0, max: MAX_EVENTS_BACK })
        .optional()
        .meta({ description: 'without a cursor: number of recent events to start with' }),
    }),
    reply: events(MarketEvent),
    summary: 'event stream of the whole marketplace (SSE)',
  }),

  getLogs: adminEndpoint({
    path: '/dashboard/api/admin/logs',
    query: z.strictObject({
      level: z.enum(logLevels).optional(),
      source: z.string().max(40).optional(),
      request: z.string().max(40).optional(),
      limit: queryInt({ min: 1, max: MAX_LOG_LINES }).optional(),
    }),
    reply: json({ records: z.array(z.record(z.string(), z.json())), dropped: z.int() }),
    summary: 'recent log records with filters',
  }),

  getMetrics: adminEndpoint({
    path: '/metrics',
    opensWith: 'metricsOpen',
    reply: bytes('text/plain; version=0.0.4; charset=utf-8'),
    summary: 'Prometheus metrics; no admin key needed on a loopback bind if metrics.open is set',
  }),

  getBackup: adminEndpoint({
    path: '/dashboard/api/admin/backup',
    reply: stream('application/x-tar'),
    errors: ['conflict'],
    summary: 'consistent backup of a running store',
  }),
}
