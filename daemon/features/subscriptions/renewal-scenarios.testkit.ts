import type { Line } from '../../../fixtures/scenarios/scenario.ts'

const subscription = { id: '$subscription' }
const nowhere = { id: 'sub_0123456789abcdef' }

/** What a subscriber does to its renewals. */
export const renewalScenarios: readonly Line[] = [
  {
    row: 'pauseSubscription',
    kind: 'success',
    that: 'the paid period goes on, then nothing is charged',
    given: ['a subscription'],
    request: { as: 'buyer', params: subscription },
    expect: { status: 200, body: { status: 'paused', has_access: true, next_charge_at: null } },
  },
  {
    row: 'pauseSubscription',
    kind: 'wrong_role',
    that: 'the provider does not stop the renewals of its subscriber',
    given: ['a subscription'],
    request: { as: 'provider', params: subscription },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    row: 'pauseSubscription',
    kind: 'wrong_state',
    that: 'what is paused is paused',
    given: ['a subscription', 'it is paused'],
    request: { as: 'buyer', params: subscription },
    expect: { status: 409, code: 'invalid_transition', body: { from: 'paused' } },
  },
  {
    row: 'pauseSubscription',
    kind: 'bad_input',
    that: 'an unknown id is not found',
    request: { as: 'buyer', params: nowhere },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'resumeSubscription',
    kind: 'success',
    that: 'within its period it just goes on',
    given: ['a subscription', 'it is paused'],
    request: { as: 'buyer', params: subscription },
    expect: { status: 200, body: { status: 'active', paused_at: null, periods_paid: 1 } },
  },
  {
    row: 'resumeSubscription',
    kind: 'wrong_role',
    that: 'somebody else resumes nothing',
    given: ['a subscription', 'it is paused'],
    request: { as: 'other', params: subscription },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    row: 'resumeSubscription',
    kind: 'wrong_state',
    that: 'what is canceled does not come back',
    given: ['a subscription', 'it is canceled'],
    request: { as: 'buyer', params: subscription },
    expect: { status: 409, code: 'invalid_transition', body: { from: 'canceled' } },
  },
  {
    row: 'resumeSubscription',
    kind: 'wrong_state',
    that: 'a deleted plan is not gone on with',
    given: ['a subscription', 'it is paused', 'the plan is deleted'],
    request: { as: 'buyer', params: subscription },
    expect: { status: 409, code: 'conflict' },
  },
  {
    row: 'resumeSubscription',
    kind: 'bad_input',
    that: 'an unknown id is not found',
    request: { as: 'buyer', params: nowhere },
    expect: { status: 404, code: 'not_found' },
  },
]
