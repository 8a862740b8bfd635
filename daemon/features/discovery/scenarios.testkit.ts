import type { Exempt, Line, Scenario } from '../../../fixtures/scenarios/scenario.ts'

type Open = Scenario['row']

/** Rows that anyone reads at any time. */
function openToAll(rows: readonly Open[]): Exempt[] {
  return rows.flatMap((row): Exempt[] => [
    { row, kind: 'wrong_role', exempt: 'anyone may read it' },
    { row, kind: 'wrong_state', exempt: 'it can always be read' },
  ])
}

function withoutInput(rows: readonly Open[]): Exempt[] {
  return rows.map((row) => ({ row, kind: 'bad_input', exempt: 'the row takes no input' }))
}

const anyone = { as: 'anonymous' } as const

/** Health, description, discovery for agents. */
export const publicScenarios: readonly Line[] = [
  ...openToAll([
    'getHealth',
    'getOpenapi',
    'getManifest',
    'getLlmsText',
    'getDocs',
    'getHome',
    'listResources',
    'searchResources',
  ]),
  ...withoutInput(['getHealth', 'getOpenapi', 'getManifest', 'getLlmsText', 'getDocs', 'getHome']),
  {
    row: 'getHealth',
    kind: 'success',
    that: 'everyone sees what is open',
    request: anyone,
    expect: { status: 200, body: { status: 'ok', paused: false, checkout_v2: false, network: 'base' } },
  },
  {
    row: 'getOpenapi',
    kind: 'success',
    that: 'the contract as machines read it',
    request: anyone,
    expect: { status: 200, body: { openapi: '3.1.0', info: { version: '1.0.0' } } },
  },
  {
    row: 'getManifest',
    kind: 'success',
    that: 'an agent finds what is paid for',
    request: anyone,
    expect: { status: 200, body: { version: 1, x402Version: 2, network: /^(base|eip155:)/ } },
  },
  {
    row: 'getLlmsText',
    kind: 'success',
    that: 'an agent reads how to begin',
    request: anyone,
    expect: { status: 200 },
  },
  {
    row: 'getDocs',
    kind: 'success',
    that: 'a person reads the reference',
    request: anyone,
    expect: { status: 200 },
  },
  {
    row: 'getHome',
    kind: 'success',
    that: 'a person who has only the address finds the way',
    request: anyone,
    expect: { status: 200 },
  },
  {
    row: 'listResources',
    kind: 'success',
    that: 'listings come as x402 resources',
    given: ['a listing'],
    request: { ...anyone, query: { limit: '1' } },
    expect: { status: 200, body: { items: [{ type: 'http', accepts: [{ scheme: 'exact', amount: '525000' }] }] } },
  },
  {
    row: 'listResources',
    kind: 'bad_input',
    that: 'a page has at most a hundred',
    request: { ...anyone, query: { limit: '101' } },
    expect: { status: 400, code: 'invalid_request', field: 'limit' },
  },
  {
    row: 'searchResources',
    kind: 'success',
    that: 'an agent searches by what it needs',
    given: ['a listing'],
    request: { ...anyone, query: { query: 'words' } },
    expect: { status: 200, body: { x402Version: 2 } },
  },
  {
    row: 'searchResources',
    kind: 'bad_input',
    that: 'a search says for what',
    request: anyone,
    expect: { status: 400, code: 'invalid_request', field: 'query' },
  },
]
