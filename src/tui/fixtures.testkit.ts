import examples from '../api/answer-examples.json' with { type: 'json' }
import type { WireAnswer } from '../api/index.ts'
import { readAnswer } from '../client/call.ts'
import type { Place } from '../client/link.ts'
import { tableOf } from '../core/record.ts'
import { accountKinds } from '../model/ledger.ts'
import { attentionKinds } from '../model/words.ts'
import { type FakeLink, fakeLink, NOW } from './cockpit.testkit.tsx'

const iso = (agoMs: number) => new Date(NOW - agoMs).toISOString()
const SECOND = 1_000
const HOUR = 3_600 * SECOND

type Health = WireAnswer<'getHealth'>
type Cron = WireAnswer<'listCrons'>['crons'][number]
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

type Attention = WireAnswer<'getAttention'>

const need = (kind: Attention['items'][number]['kind'], more: Partial<Attention['items'][number]>) => ({
  id: `${kind} of the test`,
  kind,
  grave: false,
  subject: { kind, id: kind },
  who: null,
  amount: null,
  since: null,
  due: null,
  sentence: `The ${kind} waits.`,
  fix: 'souk attention',
  ...more,
})

const waiting = [
  need('dispute', {
    grave: true,
    subject: { kind: 'job', id: 'job_944b1585b4ab7d9c' },
    who: 'Inkwell',
    amount: '2.625',
    since: iso(2 * HOUR),
    sentence: 'A buyer disputes "Site audit": it waits for your decision.',
    fix: 'souk admin jobs bundle job_944b1585b4ab7d9c',
  }),
  need('cron', {
    subject: { kind: 'cron', id: 'provider-settlement' },
    since: iso(6 * HOUR),
    sentence: 'Its last run failed: connect ECONNREFUSED 127.0.0.1:8545.',
    fix: 'souk crons run provider-settlement',
  }),
  need('sanctions_list', {
    subject: { kind: 'sanctions_list', id: 'sdn' },
    since: iso(31 * HOUR),
    sentence: 'The sanctions list is stale.',
    fix: 'souk crons run ofac-sdn-refresh',
  }),
]

const noneOfEach: Attention['counts'] = tableOf(attentionKinds, () => 0)

export const attention: Attention = {
  items: waiting,
  total: waiting.length,
  counts: { ...noneOfEach, dispute: 1, cron: 1, sanctions_list: 1 },
}

const accountsOf: Readonly<Record<string, number>> = { esc: 31, bal: 31, prov: 8, out: 1, oper: 1, refp: 3, blk: 1 }

function booksOf(amounts: Readonly<Record<string, string>>): WireAnswer<'getRiver'>['books'] {
  return accountKinds.map((kind) => ({ kind, accounts: accountsOf[kind] ?? 0, amount: amounts[kind] ?? '0.00' }))
}

/** A day of 96 sales: 311.85 + 1,284.30 - 1,207.95 = 388.20. */
export const river: WireAnswer<'getRiver'> = {
  begins: iso(14 * HOUR),
  opening: '311.85',
  paid_in: '1284.30',
  by_x402: '902.10',
  by_balance: '382.20',
  sales: 96,
  at_once: '84.00',
  providers: '1109.00',
  fees: '55.45',
  refunds: '43.50',
  held: '388.20',
  disputed: '2.625',
  overdue: '23.55',
  held_jobs: 31,
  in_flight: 5,
  ended: { good: 93, failed: 2, refunded: 1 },
  owed: '102.60',
  sent: '1006.40',
  books: booksOf({
    ext: '-2013.515',
    esc: '388.20',
    bal: '240.00',
    prov: '102.60',
    out: '61.20',
    oper: '1204.815',
    refp: '4.10',
    blk: '12.60',
  }),
  agrees: true,
  checked_at: iso(3 * SECOND),
}

const MINUTE = 60 * SECOND
const MINUTES = 60

export const series: WireAnswer<'getSeries'> = {
  span: 'hour',
  bucket_seconds: 60,
  since: iso(3 * HOUR),
  buckets: Array.from({ length: MINUTES }, (_, i) => ({
    at: iso((MINUTES - 1 - i) * MINUTE),
    calls: { answered: i, asked_to_pay: 2, refused: 1, switched_off: 0, broken: i % 20 === 0 ? 1 : 0 },
    p50_ms: 9,
    p95_ms: 31,
    purchases: i % 5,
    paid_in: '9.20',
    providers: '8.00',
    fees: '0.40',
    refunds: '0.00',
  })),
}

/** A seller with something paid, something due, and something that its buyer has to say about. */
export const payee: WireAnswer<'listPayees'>['payees'][number] = {
  participant_id: 'p_0000000000000001',
  name: 'Pixelforge',
  wallet: `0x${'cd'.repeat(20)}`,
  sold: '64.30',
  earned: '402.10',
  paid: '340.90',
  due: '61.20',
  held: '26.25',
  waiting: [
    { reason: 'in_review', amount_usd: 26.25, sales: 1, until: iso(-48 * HOUR) },
    { reason: 'scheduled', amount_usd: 61.2, sales: 0, until: iso(-HOUR) },
  ],
  next_settlement_at: iso(-HOUR),
}

const selling = examples.listAllServices.answer.services[0]?.selling
const sold = <S extends object>(service: S) => ({ ...service, selling })

/** An instance with five crons, one failing and one stale, and four endpoints. */
export function market(more: Record<string, unknown> = {}, place?: Place): FakeLink {
  const answers = {
    'GET /health': health,
    'GET /v1/services/catalog': { ...known.catalog, total: 42 },
    'GET /dashboard/api/admin/services': { services: known.catalog.services.map(sold), total: 42, ...page },
    'GET /dashboard/api/admin/payees': { payees: [payee], total: 1, ...page },
    'GET /dashboard/api/admin/attention': attention,
    'GET /dashboard/api/admin/river': river,
    'GET /dashboard/api/admin/series': series,
    'GET /dashboard/api/admin/jobs': { jobs: [], total: 4, ...page } satisfies WireAnswer<'listAllJobs'>,
    'GET /dashboard/api/admin/holds': { holds: [], total: 23, ...page } satisfies WireAnswer<'getHolds'>,
    'GET /dashboard/api/admin/payouts': { payouts: [], total: 0, ...page } satisfies WireAnswer<'getPayouts'>,
    'GET /dashboard/api/admin/clock': {
      now: iso(0),
      wall: iso(0),
      offset_ms: 0,
      state: 'running',
      movable: true,
      next_cron: null,
    } satisfies WireAnswer<'getClock'>,
    'GET /dashboard/api/admin/platform/status': {
      paused: false,
      paused_at: null,
      reason: null,
    } satisfies WireAnswer<'getPlatformStatus'>,
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
    } satisfies WireAnswer<'listCrons'>,
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
