import type { Line } from '../../../fixtures/scenarios/scenario.ts'

const service = { id: '$listing' }
/** The provider was called: its delivery, what it hears of it, and the health of the listing. */
const told = ['deliveries', 'events', 'services']
const body = { text: 'one two three' }

/** The purchase of a listing (decisions §8). */
export const purchaseScenarios: readonly Line[] = [
  {
    row: 'purchaseService',
    kind: 'success',
    that: 'work of hours is ordered, and the money waits in escrow',
    given: ['a listing'],
    request: { as: 'buyer', params: service, body },
    expect: { status: 200, body: { status: 'dispatched', amount: '0.525' } },
  },
  {
    row: 'purchaseService',
    kind: 'success',
    that: 'an instant provider answers while the buyer waits',
    given: ['an instant listing'],
    request: { as: 'buyer', params: service, body },
    expect: { status: 200, body: { status: 'completed', result: { words: 3 }, deliverables: [{ words: 3 }] } },
  },
  {
    row: 'purchaseService',
    kind: 'success',
    that: 'an anonymous buyer of the house’s own gets it with a token',
    given: ['a listing of the house'],
    request: { as: 'stranger', params: service, body: { data: 'hello' } },
    expect: { status: 200, body: { status: 'completed', access_token: /^jt_/ } },
  },
  {
    row: 'purchaseService',
    kind: 'success',
    that: 'the balance pays, and its history says for what',
    given: ['a listing of the house', 'a balance'],
    request: { as: 'buyer', params: service, body: { data: 'hello' }, pay: 'balance' },
    expect: { status: 200, body: { status: 'completed' } },
    afterwards: [
      {
        row: 'getBalanceHistory',
        request: { as: 'buyer', query: { limit: '1' } },
        expect: { status: 200, body: { entries: [{ type: 'purchase' }] } },
      },
    ],
  },
  {
    row: 'purchaseService',
    kind: 'wrong_role',
    that: 'a provider does not buy from itself',
    given: ['a listing'],
    request: { as: 'provider', params: service, body },
    expect: { status: 409, code: 'conflict' },
  },
  {
    row: 'purchaseService',
    kind: 'wrong_state',
    that: 'what was removed is not sold',
    given: ['a removed listing'],
    request: { as: 'buyer', params: service, body },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'purchaseService',
    kind: 'wrong_state',
    that: 'what has no price is asked for first',
    given: ['a listing without a price'],
    request: { as: 'buyer', params: service, body },
    expect: { status: 409, code: 'quote_required', body: { inquire: 'POST /v1/services/$listing/inquire' } },
  },
  {
    row: 'purchaseService',
    kind: 'wrong_state',
    that: 'what nobody would answer is not sold',
    given: ['an instant listing of nobody'],
    request: { as: 'buyer', params: service, body },
    expect: { status: 503, code: 'unavailable' },
  },
  {
    row: 'purchaseService',
    kind: 'wrong_state',
    that: 'a provider that fails costs nothing',
    given: ['an instant listing'],
    request: { as: 'stranger', params: service, body: { text: 'fail' } },
    expect: { status: 502, code: 'provider_failed' },
    leaves: told,
  },
  {
    row: 'purchaseService',
    kind: 'wrong_state',
    that: 'a hold is given back when the provider fails',
    given: ['an instant listing', 'a balance'],
    request: { as: 'buyer', params: service, body: { text: 'fail' }, pay: 'balance' },
    expect: { status: 502, code: 'provider_failed' },
    leaves: told,
    afterwards: [
      {
        row: 'getBalance',
        request: { as: 'buyer' },
        expect: { status: 200, body: { balance: '10.00', held: '0.00' } },
      },
    ],
  },
  {
    row: 'purchaseService',
    kind: 'bad_input',
    that: 'input that the listing does not take is named, and not paid for',
    given: ['a listing'],
    request: { as: 'buyer', params: service, body: { text: 3 } },
    expect: { status: 400, code: 'input_invalid', field: 'text' },
  },
]
