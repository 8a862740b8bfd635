import type { Line } from '../../../fixtures/scenarios/scenario.ts'
import { attempt } from '../../../fixtures/scenarios/steps-people.ts'

const token = '0'.repeat(64)
const inBrowser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

/** Recorded purchase attempts, and the page that a link opens once. */
export const traceScenarios: readonly Line[] = [
  {
    row: 'recordTrace',
    kind: 'success',
    that: 'an agent records what it did not buy, and gets a link',
    given: ['the buyer'],
    request: { as: 'buyer', body: { event: attempt } },
    expect: { status: 200, body: { trace_id: /^trc_/, link: /\/dashboard\/traces\// } },
  },
  {
    row: 'recordTrace',
    kind: 'wrong_role',
    that: 'without a key the payer signs',
    given: ['the buyer'],
    request: { as: 'anonymous', body: { event: attempt } },
    expect: { status: 401, code: 'unauthorized' },
  },
  {
    row: 'recordTrace',
    kind: 'wrong_state',
    that: 'one id is one event',
    given: ['a trace'],
    request: { as: 'buyer', body: { event: { ...attempt, source: 'mcp' } } },
    expect: { status: 409, code: 'conflict' },
  },
  {
    row: 'recordTrace',
    kind: 'bad_input',
    that: 'an amount is in atomic units',
    given: ['the buyer'],
    request: { as: 'buyer', body: { event: { ...attempt, intent: { ...attempt.intent, amount: '0.01' } } } },
    expect: { status: 400, code: 'invalid_request', field: 'event.intent.amount' },
  },
  {
    row: 'openTrace',
    kind: 'success',
    that: 'whoever has the link sees the attempt',
    given: ['a trace'],
    request: { as: 'anonymous', params: { token: '$link' } },
    expect: { status: 200 },
    afterwards: [
      {
        row: 'openTrace',
        request: { as: 'anonymous', params: { token: '$link' } },
        expect: { status: 404, code: 'not_found' },
      },
    ],
  },
  {
    row: 'openTrace',
    kind: 'wrong_role',
    that: 'a key is no link',
    given: ['a trace'],
    request: { as: 'buyer', params: { token } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'openTrace',
    kind: 'wrong_state',
    that: 'it opens once',
    given: ['a trace', 'the link was opened'],
    request: { as: 'anonymous', params: { token: '$link' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'openTrace',
    kind: 'wrong_state',
    that: 'a person who opens it again is told so on a page',
    given: ['a trace', 'the link was opened'],
    request: { as: 'anonymous', params: { token: '$link' }, headers: inBrowser },
    expect: { status: 404, page: 'There is nothing here' },
  },
  {
    row: 'openTrace',
    kind: 'bad_input',
    that: 'what is no token opens nothing',
    request: { as: 'anonymous', params: { token: 'x' } },
    expect: { status: 404, code: 'not_found' },
  },
]
