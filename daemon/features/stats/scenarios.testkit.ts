import type { Line } from '../../../fixtures/scenarios/scenario.ts'

const anyone = { as: 'anonymous' } as const

/** What is counted of those who look around. */
export const statsScenarios: readonly Line[] = [
  {
    row: 'getWatching',
    kind: 'wrong_state',
    that: 'there is nothing before the first night',
    request: anyone,
    expect: { status: 503, code: 'not_built_yet' },
  },
  {
    row: 'recordEvent',
    kind: 'success',
    that: 'what an explorer does is counted, whatever else it sends',
    request: { ...anyone, body: { event: 'subject_view', colour: 'red' } },
    expect: { status: 204 },
  },
  {
    row: 'recordEvent',
    kind: 'success',
    that: 'who wants not to be counted is answered the same, even with nonsense',
    request: { ...anyone, body: { event: 'nonsense' }, headers: { DNT: '1' } },
    expect: { status: 204 },
  },
  { row: 'recordEvent', kind: 'wrong_role', exempt: 'anyone may be counted' },
  { row: 'recordEvent', kind: 'wrong_state', exempt: 'it can always be counted' },
  {
    row: 'recordEvent',
    kind: 'bad_input',
    that: 'an event of another kind is refused by its own code',
    request: { ...anyone, body: { event: 'hover' } },
    expect: { status: 400, code: 'invalid_event' },
  },
  {
    row: 'getWatching',
    kind: 'success',
    that: 'after the night there are days',
    given: ['a night'],
    request: anyone,
    expect: { status: 200, body: { as_of: /Z$/ } },
  },
  { row: 'getWatching', kind: 'wrong_role', exempt: 'anyone may read it' },
  { row: 'getWatching', kind: 'bad_input', exempt: 'the row takes no input' },
]
