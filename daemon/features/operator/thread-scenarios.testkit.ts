import type { Line } from '../../../fixtures/scenarios/scenario.ts'
import { onlyForOperators } from './scenarios.testkit.ts'

const admin = { as: 'admin' } as const
const thread = { id: '$thread' }
const ofHouse = { id: '$house_thread' }
const nowhere = { id: 'thr_0123456789abcdef' }

/** What the operator reads of conversations, and says for the house. */
export const operatorThreadScenarios: readonly Line[] = [
  ...onlyForOperators(['listAllThreads', 'readAnyThread', 'answerForHouse']),
  {
    row: 'listAllThreads',
    kind: 'success',
    that: 'the operator finds any conversation by its party, and that it looked is written down',
    given: ['an inquiry'],
    request: { ...admin, query: { participant: '$buyer', status: 'inquiry' } },
    expect: { status: 200, body: { total: 1, threads: [thread] } },
    afterwards: [
      {
        row: 'getAdminLog',
        request: { ...admin, query: { limit: '1' } },
        expect: { status: 200, body: { acts: [{ act: 'thread.list', detail: { participant: '$buyer', total: 1 } }] } },
      },
    ],
  },
  { row: 'listAllThreads', kind: 'wrong_state', exempt: 'it can always be read' },
  {
    row: 'listAllThreads',
    kind: 'bad_input',
    that: 'a side is that of somebody',
    request: { ...admin, query: { role: 'buyer' } },
    expect: { status: 400, code: 'invalid_request', field: 'role' },
  },
  {
    row: 'readAnyThread',
    kind: 'success',
    that: 'what was said, and that the operator read it is written down',
    given: ['an inquiry at the house'],
    request: { ...admin, params: ofHouse },
    expect: { status: 200, body: { ...ofHouse, messages: [{ body: 'Could you do ten pages?' }] } },
    afterwards: [
      {
        row: 'getAdminLog',
        request: { ...admin, query: { limit: '1' } },
        expect: { status: 200, body: { acts: [{ act: 'thread.read', subject: ofHouse, changed: false }] } },
      },
    ],
  },
  { row: 'readAnyThread', kind: 'wrong_state', exempt: 'a conversation can be read in every state' },
  {
    row: 'readAnyThread',
    kind: 'bad_input',
    that: 'an unknown id is not found',
    request: { ...admin, params: nowhere },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'answerForHouse',
    kind: 'success',
    that: 'who asked the house reads its answer',
    given: ['an inquiry at the house'],
    request: { ...admin, params: ofHouse, body: { message: 'Twenty, if you like.' } },
    expect: { status: 200, body: { author_role: 'provider', type: 'message' } },
    afterwards: [
      {
        row: 'getThread',
        request: { as: 'buyer', params: ofHouse, query: { limit: '1' } },
        expect: { status: 200, body: { messages: [{ body: 'Twenty, if you like.' }] } },
      },
    ],
  },
  {
    row: 'answerForHouse',
    kind: 'wrong_state',
    that: 'nobody speaks for another provider',
    given: ['an inquiry'],
    request: { ...admin, params: thread, body: { message: 'It does that for free.' } },
    expect: { status: 409, code: 'conflict', body: { provider_id: '$provider' } },
  },
  {
    row: 'answerForHouse',
    kind: 'bad_input',
    that: 'a message says something',
    given: ['an inquiry at the house'],
    request: { ...admin, params: ofHouse, body: { message: ' ' } },
    expect: { status: 400, code: 'invalid_request', field: 'message' },
  },
]
