import type { Line } from '../../../fixtures/scenarios/scenario.ts'

const provider = { id: '$provider' }
const identity = { agent_registry: '$registry', agent_id: '$agent' }

/** Public profiles, and the identities that stand behind them. */
export const profileScenarios: readonly Line[] = [
  {
    row: 'getProfile',
    kind: 'success',
    that: 'anyone sees trust, reputation and health of who is listed',
    given: ['an endpoint', 'a listing'],
    request: { as: 'anonymous', params: provider },
    expect: {
      status: 200,
      body: {
        id: '$provider',
        trust: { verdict: 'unknown' },
        reputation: { band: null, is_new: true },
        identity: null,
      },
    },
  },
  {
    row: 'getProfile',
    kind: 'success',
    that: 'a linked identity is shown',
    given: ['a listing', 'a linked identity'],
    request: { as: 'anonymous', params: { id: '$provider.wallet' } },
    expect: { status: 200, body: { identity: { agent_id: '$agent' } } },
  },
  { row: 'getProfile', kind: 'wrong_role', exempt: 'anyone may read what is listed' },
  {
    row: 'getProfile',
    kind: 'wrong_state',
    that: 'who is not listed is not found',
    given: ['the buyer'],
    request: { as: 'buyer', params: { id: '$buyer' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'getProfile',
    kind: 'bad_input',
    that: 'an unknown id is not found',
    request: { as: 'anonymous', params: { id: 'p_0123456789abcdef' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'getIdentityFile',
    kind: 'success',
    that: 'the registration file as ERC-8004 has it',
    given: ['a listing', 'a linked identity'],
    request: { as: 'anonymous', params: provider },
    expect: { status: 200, body: { name: 'the provider', active: true, x402Support: true } },
  },
  { row: 'getIdentityFile', kind: 'wrong_role', exempt: 'anyone may read what is listed' },
  {
    row: 'getIdentityFile',
    kind: 'wrong_state',
    that: 'who is not listed has no file',
    given: ['the buyer'],
    request: { as: 'anonymous', params: { id: '$buyer' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'getIdentityFile',
    kind: 'bad_input',
    that: 'an unknown id is not found',
    request: { as: 'anonymous', params: { id: 'p_0123456789abcdef' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'linkIdentity',
    kind: 'success',
    that: 'the owner of an identity links it by its key',
    given: ['an identity'],
    request: { as: 'provider', body: identity },
    expect: { status: 200, body: { participant_id: '$provider', agent_id: '$agent', wallet: '$provider.wallet' } },
  },
  {
    row: 'linkIdentity',
    kind: 'wrong_role',
    that: 'nobody links the identity of another wallet',
    given: ['an identity'],
    request: { as: 'rival', body: identity },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    row: 'linkIdentity',
    kind: 'wrong_role',
    that: 'without a key the wallet signs',
    given: ['an identity'],
    request: { as: 'anonymous', body: identity },
    expect: { status: 401, code: 'unauthorized' },
  },
  {
    row: 'linkIdentity',
    kind: 'wrong_state',
    that: 'an identity that nobody registered is not found',
    given: ['an identity'],
    request: { as: 'provider', body: { ...identity, agent_id: 999_999 } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'linkIdentity',
    kind: 'bad_input',
    that: 'a registry is named with its chain',
    given: ['an identity'],
    request: { as: 'provider', body: { ...identity, agent_registry: '0x12' } },
    expect: { status: 400, code: 'invalid_request', field: 'agent_registry' },
  },
]
