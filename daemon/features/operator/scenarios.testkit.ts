import type { Exempt, Line, Scenario } from '../../../fixtures/scenarios/scenario.ts'

type Row = Scenario['row']
const admin = { as: 'admin' } as const
const job = { id: '$job' }
const cron = { name: 'escrow-monitor' }

/** A participant's key, even a provider's, opens no row of the operator. */
export function onlyForOperators(rows: readonly Row[]): Scenario[] {
  return rows.map((row) => ({
    row,
    kind: 'wrong_role',
    that: 'the key of a participant opens nothing',
    request: { as: 'provider', params: { id: 'job_0123456789abcdef', name: 'splitter-distribute' } },
    expect: { status: 401, code: 'unauthorized' },
  }))
}

function reads(rows: readonly Row[]): Exempt[] {
  return rows.map((row) => ({ row, kind: 'wrong_state', exempt: 'it can always be read' }))
}

function switches(rows: readonly Row[]): Exempt[] {
  return rows.map((row) => ({ row, kind: 'wrong_state', exempt: 'it says whether anything changed' }))
}

function withoutInput(rows: readonly Row[]): Exempt[] {
  return rows.map((row) => ({ row, kind: 'bad_input', exempt: 'the row takes no input' }))
}

function badPage(rows: readonly Row[]): Scenario[] {
  return rows.map((row) => ({
    row,
    kind: 'bad_input',
    that: 'a page is at most a hundred',
    request: { ...admin, query: { limit: '1000000' } },
    expect: { status: 400, code: 'invalid_request', field: 'limit' },
  }))
}

function badReason(rows: readonly Row[]): Scenario[] {
  return rows.map((row) => ({
    row,
    kind: 'bad_input',
    that: 'a reason says something',
    request: { ...admin, body: { reason: ' ' } },
    expect: { status: 400, code: 'invalid_request', field: 'reason' },
  }))
}

const lists = [
  'getAdminLog',
  'listAllJobs',
  'getHolds',
  'getPayouts',
  'listSanctions',
  'getWebhooks',
  'listParticipants',
] as const
const pauses = ['pausePlatform', 'unpausePlatform', 'pauseEscrow', 'unpauseEscrow'] as const
const plainReads = [
  'getPlatformStatus',
  'getEscrowPaused',
  'listCrons',
  'getFeatures',
  'getClock',
  'getAudit',
  'getMetrics',
  'getBackup',
] as const

/** What the operator sees and switches. */
export const operatorScenarios: readonly Line[] = [
  ...onlyForOperators([
    ...lists,
    ...pauses,
    ...plainReads,
    'getLogs',
    'setFeatures',
    'runCron',
    'pauseCron',
    'resumeCron',
  ]),
  ...reads([...lists, ...plainReads, 'getLogs']),
  ...switches([...pauses, 'setFeatures', 'runCron', 'pauseCron', 'resumeCron']),
  ...withoutInput(plainReads),
  ...badPage([...lists, 'getLogs']),
  ...badReason([...pauses, 'setFeatures']),
  {
    row: 'pausePlatform',
    kind: 'success',
    that: 'paid doors close, with why and since when',
    request: { ...admin, body: { reason: 'the chain is slow' } },
    expect: { status: 200, body: { paused: true, changed: true, reason: 'the chain is slow' } },
    afterwards: [
      {
        row: 'getPlatformStatus',
        request: admin,
        expect: { status: 200, body: { paused: true, reason: 'the chain is slow' } },
      },
      { row: 'register', request: { as: 'anonymous' }, expect: { status: 503, code: 'paused' } },
      {
        row: 'getAdminLog',
        request: { ...admin, query: { limit: '1' } },
        expect: {
          status: 200,
          body: { acts: [{ act: 'platform.pause', reason: 'the chain is slow', changed: true }] },
        },
      },
    ],
  },
  {
    row: 'unpausePlatform',
    kind: 'success',
    that: 'they open again',
    request: { ...admin, body: {} },
    expect: { status: 200, body: { paused: false, changed: true } },
    afterwards: [{ row: 'register', request: { as: 'anonymous' }, expect: { status: 402, code: 'payment_required' } }],
  },
  {
    row: 'pauseEscrow',
    kind: 'success',
    that: 'nothing goes into escrow, and the price is not even asked for',
    given: ['a listing'],
    request: { ...admin, body: {} },
    expect: { status: 200, body: { paused: true } },
    afterwards: [
      {
        row: 'purchaseService',
        request: { as: 'buyer', params: { id: '$listing' }, body: {} },
        expect: { status: 503, code: 'paused', body: { feature: 'escrow' } },
      },
    ],
  },
  {
    row: 'getEscrowPaused',
    kind: 'success',
    that: 'the operator sees it',
    request: admin,
    expect: { status: 200, body: { paused: true } },
  },
  {
    row: 'unpauseEscrow',
    kind: 'success',
    that: 'it goes on',
    request: { ...admin, body: {} },
    expect: { status: 200, body: { paused: false, changed: true } },
  },
  {
    row: 'getPlatformStatus',
    kind: 'success',
    that: 'all doors are open',
    request: admin,
    expect: { status: 200, body: { paused: false, paused_at: null, reason: null } },
  },
  {
    row: 'getAdminLog',
    kind: 'success',
    that: 'every act is written down',
    request: { ...admin, query: { limit: '1' } },
    expect: { status: 200, body: { offset: 0, acts: [{ act: 'escrow.unpause' }] } },
  },
  {
    row: 'setFeatures',
    kind: 'success',
    that: 'the cutover shelves what it shelves, and is taken back',
    request: { ...admin, body: { checkout_v2: true } },
    expect: { status: 200, body: { checkout_v2: true, changed: true } },
    afterwards: [
      { row: 'deposit', request: { as: 'anonymous' }, expect: { status: 410, code: 'deferred' } },
      {
        row: 'setFeatures',
        request: { ...admin, body: { checkout_v2: false } },
        expect: { status: 200, body: { checkout_v2: false } },
      },
    ],
  },
  {
    row: 'setNamedService',
    kind: 'success',
    that: 'a function of the house is sold under an advertised path, at a price of its own',
    request: { ...admin, params: { slug: 'site-audit' }, body: { from: 'link_preview', price: '5.00' } },
    expect: { status: 200, body: { enabled: true, path: '/v1/services/site-audit', price: '5.00', plan_id: null } },
    afterwards: [
      { row: 'siteAudit', request: { as: 'anonymous' }, expect: { status: 402, code: 'payment_required' } },
      {
        row: 'setNamedService',
        request: { ...admin, params: { slug: 'site-audit' }, body: { enabled: false } },
        expect: { status: 200, body: { enabled: false, service_id: null } },
      },
      { row: 'siteAudit', request: { as: 'anonymous' }, expect: { status: 404, code: 'not_found' } },
    ],
  },
  {
    row: 'setNamedService',
    kind: 'wrong_role',
    that: 'only the operator says what an advertised path sells',
    request: { as: 'provider', params: { slug: 'site-audit' }, body: { enabled: false } },
    expect: { status: 401, code: 'unauthorized' },
  },
  { row: 'setNamedService', kind: 'wrong_state', exempt: 'a path is set whatever stood behind it' },
  {
    row: 'setNamedService',
    kind: 'bad_input',
    that: 'a price outside the advertised one is not taken',
    request: { ...admin, params: { slug: 'site-audit' }, body: { from: 'link_preview', price: '6.00' } },
    expect: { status: 400, code: 'invalid_request' },
  },
  {
    row: 'getFeatures',
    kind: 'success',
    that: 'the switches as they stand',
    request: admin,
    expect: { status: 200, body: { checkout_v2: false, terms_required: false, disputes_default: null } },
  },
  {
    row: 'listCrons',
    kind: 'success',
    that: 'each job with its last runs',
    request: admin,
    expect: { status: 200, body: { automatic: false } },
  },
  {
    row: 'runCron',
    kind: 'success',
    that: 'a job runs when it is told to',
    request: { ...admin, params: cron },
    expect: { status: 200, body: { name: cron.name, run: { trigger: 'admin' } } },
  },
  {
    row: 'runCron',
    kind: 'bad_input',
    that: 'an unknown job is not found',
    request: { ...admin, params: { name: 'tea' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'pauseCron',
    kind: 'success',
    that: 'a job stands still',
    request: { ...admin, params: cron },
    expect: { status: 200, body: { name: cron.name, paused: true, changed: true, next_run: null } },
  },
  {
    row: 'pauseCron',
    kind: 'bad_input',
    that: 'an unknown job is not found',
    request: { ...admin, params: { name: 'tea' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'resumeCron',
    kind: 'success',
    that: 'it goes on',
    request: { ...admin, params: cron },
    expect: { status: 200, body: { paused: false, changed: true } },
  },
  {
    row: 'resumeCron',
    kind: 'bad_input',
    that: 'an unknown job is not found',
    request: { ...admin, params: { name: 'tea' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'getClock',
    kind: 'success',
    that: 'business time runs with the machine until it is moved',
    request: admin,
    expect: { status: 200, body: { offset_ms: 0, state: 'running', movable: true } },
  },
  {
    row: 'getLogs',
    kind: 'success',
    that: 'recent records, filtered',
    request: { ...admin, query: { level: 'error', limit: '5' } },
    expect: { status: 200, body: { records: [] } },
  },
  {
    row: 'getMetrics',
    kind: 'success',
    that: 'numbers for a monitor',
    request: admin,
    expect: { status: 200 },
  },
  {
    row: 'getBackup',
    kind: 'success',
    that: 'the whole store, consistent',
    request: admin,
    expect: { status: 200 },
  },
  {
    row: 'listAllJobs',
    kind: 'success',
    that: 'the operator finds any job by its party',
    given: ['a job'],
    request: { ...admin, query: { participant: '$buyer', role: 'buyer' } },
    expect: { status: 200, body: { total: 1, jobs: [job] } },
  },
  {
    row: 'getHolds',
    kind: 'success',
    that: 'what is held, whose it is and what happens next',
    given: ['a job'],
    request: { ...admin, query: { kind: 'esc', limit: '1' } },
    expect: { status: 200, body: { holds: [{ kind: 'esc', next_event: /./ }] } },
  },
  {
    row: 'getAudit',
    kind: 'success',
    that: 'after all of this the books add up',
    request: admin,
    expect: { status: 200, body: { ok: true } },
  },
  {
    row: 'getPayouts',
    kind: 'success',
    that: 'a refund to a wallet is a payout',
    given: ['a job', 'it has failed'],
    request: { ...admin, query: { limit: '1' } },
    expect: { status: 200, body: { payouts: [{ kind: 'refund', wallet: '$buyer.wallet', amount: '0.525' }] } },
  },
  {
    row: 'listSanctions',
    kind: 'success',
    that: 'the list that is held',
    request: { ...admin, query: { limit: '1' } },
    expect: { status: 200, body: { limit: 1, offset: 0 } },
  },
  {
    row: 'getWebhooks',
    kind: 'success',
    that: 'deliveries of everyone',
    given: ['a delivery'],
    request: { ...admin, query: { participant: '$provider' } },
    expect: { status: 200, body: { total: 1, deliveries: [{ id: '$delivery' }] } },
  },
  {
    row: 'listParticipants',
    kind: 'success',
    that: 'the operator sees balances too',
    given: ['a balance'],
    request: { ...admin, query: { type: 'agent', limit: '1' } },
    expect: { status: 200, body: { participants: [{ id: '$buyer', balance: { available: '10.00', held: '0.00' } }] } },
  },
]
