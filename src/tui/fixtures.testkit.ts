import examples from '../api/answer-examples.json' with { type: 'json' }
import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import { readAnswer } from '../client/call.ts'
import type { Place } from '../client/link.ts'
import { type FakeLink, fakeLink, NOW } from './cockpit.testkit.tsx'

const iso = (agoMs: number) => new Date(NOW - agoMs).toISOString()
const SECOND = 1_000
const HOUR = 3_600 * SECOND

type Health = WireAnswer<Api['getHealth']>
type Cron = WireAnswer<Api['listCrons']>['crons'][number]
type Run = Cron['runs'][number]

const cron = (agoMs: number | null, more: Partial<Health['crons'][string]> = {}): Health['crons'][string] => ({
  last_success: agoMs === null ? null : iso(agoMs),
  last_skipped: null,
  last_failure: null,
  age_seconds: agoMs === null ? null : agoMs / SECOND,
  stale: false,
  ...more,
})

const cronHealth = {
  'escrow-monitor': cron(12 * SECOND),
  'auto-refund': cron(44 * SECOND),
  'provider-settlement': cron(6 * HOUR, { last_failure: iso(41 * SECOND) }),
  'ofac-sdn-refresh': cron(31 * HOUR, { stale: true }),
  reputation: cron(null),
}

const run = (agoMs: number, result: Run['result'], reason: string | null = null): Run => ({
  at: iso(agoMs),
  took_ms: 12,
  trigger: 'schedule',
  result,
  reason,
})

const cronRow = (name: keyof typeof cronHealth, more: Partial<Cron> = {}): Cron => ({
  ...cronHealth[name],
  name,
  schedule: '0 * * * * *',
  interval_seconds: 60,
  paused: false,
  paused_at: null,
  running: false,
  next_run: iso(-48 * SECOND),
  runs: [run(12 * SECOND, 'success'), run(72 * SECOND, 'success')],
  ...more,
})

type Endpoint = Health['endpoints'][number]

const door = (
  name: `${Endpoint['method']} /${string}`,
  price = 'free',
  status: Endpoint['status'] = 'live',
): Endpoint => {
  const [method = '', path = ''] = name.split(' ')
  return { method, path, price, status, description: `does what ${path} says` }
}

const known = {
  health: await readAnswer('getHealth', examples.getHealth.answer),
  catalog: await readAnswer('getCatalog', examples.getCatalog.answer),
}

export const health: Health = {
  ...known.health,
  status: 'ok',
  checkout_v2: false,
  paused: false,
  paused_at: null,
  version: '0.1.0',
  instance_id: 'inst_1',
  network: 'base',
  pay_to: '0x70c2000000000000000000000000000000009f1a',
  chain: { ...known.health.chain, mode: 'sandbox' },
  timestamp: NOW,
  crons: cronHealth,
  launch: {
    ...known.health.launch,
    shelved_410_24h: { requests: { lab: 1 } },
    gate_refusals_24h: { terms_required: 41 },
  },
  endpoints: [
    door('GET /v1/services/catalog'),
    door('POST /v1/discover', '$0.001'),
    door('POST /v1/services/:id/purchase', 'varies'),
    door('POST /v1/products/:id/purchase', 'varies', 'deferred'),
  ],
}

export const pausedHealth: Health = {
  ...health,
  status: 'paused',
  paused: true,
  paused_at: iso(120 * SECOND),
  endpoints: health.endpoints.map((one) =>
    one.price !== 'free' && one.status === 'live' ? { ...one, status: 'paused' as const } : one,
  ),
}

const page = { limit: 20, offset: 0 }

/** An instance with five crons, one failing and one stale, and four endpoints. */
export function market(more: Record<string, unknown> = {}, place?: Place): FakeLink {
  const answers = {
    'GET /health': health,
    'GET /v1/services/catalog': { ...known.catalog, total: 42 },
    'GET /dashboard/api/admin/holds': { holds: [], total: 23, ...page } satisfies WireAnswer<Api['getHolds']>,
    'GET /dashboard/api/admin/payouts': { payouts: [], total: 0, ...page } satisfies WireAnswer<Api['getPayouts']>,
    'GET /dashboard/api/admin/clock': {
      now: iso(0),
      wall: iso(0),
      offset_ms: 0,
      state: 'running',
      movable: true,
      next_cron: null,
    } satisfies WireAnswer<Api['getClock']>,
    'GET /dashboard/api/admin/platform/status': {
      paused: false,
      paused_at: null,
      reason: null,
    } satisfies WireAnswer<Api['getPlatformStatus']>,
    'GET /dashboard/api/admin/crons': {
      automatic: true,
      crons: [
        cronRow('escrow-monitor'),
        cronRow('auto-refund', { paused: true, next_run: null }),
        cronRow('provider-settlement', {
          runs: [run(41 * SECOND, 'failed', 'connect ECONNREFUSED 127.0.0.1:8545'), run(6 * HOUR, 'success')],
        }),
        cronRow('ofac-sdn-refresh'),
        cronRow('reputation', { runs: [] }),
      ],
    } satisfies WireAnswer<Api['listCrons']>,
    'GET /dashboard/api/admin/logs': {
      dropped: 0,
      records: [
        { time: iso(3_000), level: 'info', source: 'http', msg: 'listening' },
        { time: iso(2_000), level: 'warn', source: 'x402', msg: 'no \u001B[31mfunds\u202E', payer: '0x33' },
        { time: iso(1_000), level: 'debug', source: 'cron', msg: 'cron success' },
      ],
    },
    ...more,
  }
  return fakeLink(answers, place)
}
