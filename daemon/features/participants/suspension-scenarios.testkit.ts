import type { Line, Scenario } from '../../../fixtures/scenarios/scenario.ts'

const gone = 'the provider is suspended'

/** Nobody pays a provider that is suspended: each is refused before any charge. */
const unsold: readonly Scenario[] = [
  {
    row: 'purchaseService',
    kind: 'wrong_state',
    that: 'a suspended provider sells nothing',
    given: ['a listing', gone],
    request: { as: 'buyer', params: { id: '$listing' }, body: { text: 'two words' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'purchaseService',
    kind: 'wrong_state',
    that: 'what a subscription covers is refused too',
    given: ['a subscription', gone],
    request: { as: 'buyer', params: { id: '$listing' }, body: { text: 'free words' }, pay: 'none' },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'purchaseProduct',
    kind: 'wrong_state',
    that: 'nor does it sell files',
    given: ['a product', gone],
    request: { as: 'buyer', params: { id: '$product' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'subscribe',
    kind: 'wrong_state',
    that: 'nor does it take subscribers',
    given: ['a plan', gone],
    request: { as: 'buyer', params: { id: '$plan' } },
    expect: { status: 409, code: 'invalid_transition', body: { from: 'suspended', allowed: [] } },
  },
  {
    row: 'acceptPrice',
    kind: 'wrong_state',
    that: 'the price of a suspended provider waits for it',
    given: ['a proposal', gone],
    request: { as: 'buyer', params: { id: '$thread' }, body: {} },
    expect: { status: 409, code: 'conflict' },
  },
  {
    row: 'awardPosting',
    kind: 'wrong_state',
    that: 'so does its bid',
    given: ['a bid', gone],
    request: { as: 'buyer', params: { id: '$posting' }, body: { bid_id: '$bid' } },
    expect: { status: 409, code: 'conflict' },
  },
  {
    row: 'resumeSubscription',
    kind: 'wrong_state',
    that: 'what a suspended provider cannot serve is not gone on with',
    given: ['a subscription', 'it is paused', gone],
    request: { as: 'buyer', params: { id: '$subscription' } },
    expect: { status: 409, code: 'conflict' },
  },
]

/** What is left of a participant that an administrator suspended, and what of it comes back. */
export const suspensionScenarios: readonly Line[] = [
  {
    row: 'setParticipant',
    kind: 'success',
    that: 'with a suspension all that a provider sells is off the market',
    given: ['a plan', 'a product'],
    request: { as: 'admin', params: { id: '$provider' }, body: { suspended: true, reason: 'a report' } },
    expect: { status: 200, body: { suspended_at: /Z$/ } },
    afterwards: [
      {
        row: 'getCatalog',
        request: { as: 'anonymous', query: { provider: '$provider' } },
        expect: { status: 200, body: { total: 0 } },
      },
      {
        row: 'getPlan',
        request: { as: 'anonymous', params: { id: '$plan' } },
        expect: { status: 200, body: { status: 'inactive', services: [{ status: 'inactive' }] } },
      },
      {
        row: 'getProduct',
        request: { as: 'anonymous', params: { id: '$product' } },
        expect: { status: 200, body: { status: 'inactive' } },
      },
    ],
  },
  {
    row: 'setParticipant',
    kind: 'success',
    that: 'and is back at its end',
    given: ['a plan', 'a product', gone],
    request: { as: 'admin', params: { id: '$provider' }, body: { suspended: false, reason: 'withdrawn' } },
    expect: { status: 200, body: { suspended_at: null } },
    afterwards: [
      {
        row: 'getService',
        request: { as: 'anonymous', params: { id: '$listing' } },
        expect: { status: 200, body: { status: 'active' } },
      },
      {
        row: 'listPlans',
        request: { as: 'anonymous', query: { provider: '$provider' } },
        expect: { status: 200, body: { total: 1 } },
      },
      {
        row: 'listProducts',
        request: { as: 'anonymous', query: { provider: '$provider' } },
        expect: { status: 200, body: { total: 1 } },
      },
    ],
  },
  ...unsold,
  {
    row: 'downloadProduct',
    kind: 'success',
    that: 'who bought a file has it, whatever became of its provider',
    given: ['a bought product', gone],
    request: { as: 'buyer', params: { id: '$product' } },
    expect: { status: 200 },
  },
  {
    row: 'getPosting',
    kind: 'wrong_state',
    that: 'the open request of a suspended poster is out of sight',
    given: ['a request', 'the buyer is suspended'],
    request: { as: 'anonymous', params: { id: '$posting' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'createBid',
    kind: 'wrong_state',
    that: 'what is out of sight takes no bid',
    given: ['a request', 'a listing', 'the buyer is suspended'],
    request: {
      as: 'provider',
      params: { id: '$posting' },
      body: { price_usd: '8.00', eta_hours: 24, service_id: '$listing', pitch: 'I count by hand.' },
    },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'withdrawBid',
    kind: 'success',
    that: 'a bidder goes from what is out of sight',
    given: ['a bid', 'the buyer is suspended'],
    request: { as: 'provider', params: { id: '$posting', bidId: '$bid' } },
    expect: { status: 200, body: { status: 'withdrawn' } },
  },
  {
    row: 'verifyJob',
    kind: 'success',
    that: 'a job that was delivered is paid for, though its provider is suspended',
    given: ['a job', 'it is delivered', gone],
    request: { as: 'buyer', params: { id: '$job' }, body: { rating: 4 } },
    expect: { status: 200 },
  },
]
