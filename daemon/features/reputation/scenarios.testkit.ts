import type { Line } from '../../../fixtures/scenarios/scenario.ts'

const NOBODY = `0x${'00'.repeat(19)}a1`
const open = 'the row is open to everybody'

/** The rows of reputation in section Reputation, trace, statistics of the specification. */
export const reputationScenarios: readonly Line[] = [
  {
    row: 'getReputation',
    kind: 'success',
    that: 'a provider that delivered has proven it',
    given: ['a counted job'],
    request: { as: 'anonymous', params: { wallet: '$provider.wallet' } },
    expect: {
      status: 200,
      body: {
        wallet: '$provider.wallet',
        subject_id: '$provider',
        verdict: 'unknown',
        level: 3,
        level_name: 'job_proven',
        score: null,
        is_new: true,
        evidence_root: '$root',
      },
    },
  },
  {
    row: 'getReputation',
    kind: 'success',
    that: 'a wallet that never registered is unknown',
    request: { as: 'anonymous', params: { wallet: NOBODY } },
    expect: { status: 200, body: { verdict: 'unknown', level: 0, subject_id: null, issued_at: null, trust_url: null } },
  },
  { row: 'getReputation', kind: 'wrong_role', exempt: open },
  { row: 'getReputation', kind: 'wrong_state', exempt: 'a verdict can always be asked for' },
  {
    row: 'getReputation',
    kind: 'bad_input',
    that: 'a wallet is an address',
    request: { as: 'anonymous', params: { wallet: '0x12' } },
    expect: { status: 400, code: 'invalid_request', field: 'wallet' },
  },
  {
    row: 'getReputations',
    kind: 'success',
    that: 'each wallet gets its verdict, in order',
    given: ['a counted job'],
    request: { as: 'anonymous', body: { wallets: [NOBODY, '$provider.wallet'] } },
    expect: {
      status: 200,
      body: {
        verdicts: [
          { subject_id: null, level: 0 },
          { subject_id: '$provider', level: 3 },
        ],
      },
    },
  },
  { row: 'getReputations', kind: 'wrong_role', exempt: open },
  { row: 'getReputations', kind: 'wrong_state', exempt: 'a verdict can always be asked for' },
  {
    row: 'getReputations',
    kind: 'bad_input',
    that: 'a batch has at most 20 wallets',
    request: { as: 'anonymous', body: { wallets: Array.from({ length: 21 }, () => NOBODY) } },
    expect: { status: 400, code: 'invalid_request', field: 'wallets' },
  },
  {
    row: 'getOnchainReputation',
    kind: 'success',
    that: 'both tags and the anchor of the verdict are there',
    given: ['a counted job'],
    request: { as: 'stranger', params: { wallet: '$provider.wallet' } },
    expect: {
      status: 200,
      body: {
        wallet: '$provider.wallet',
        summaries: [
          { tag1: 'starred', tag2: '', count: 1 },
          { tag1: 'starred', tag2: 'human_service', count: 1 },
          { tag1: 'successRate', tag2: '', count: 1, value: 100, value_decimals: 0 },
          { tag1: 'successRate', tag2: 'human_service', count: 1 },
        ],
        anchors: [{ seq: 1, root: '$root' }],
      },
    },
  },
  {
    row: 'getOnchainReputation',
    kind: 'success',
    that: 'without an identity there is no feedback to sum up',
    given: ['the provider', 'a balance'],
    request: { as: 'buyer', pay: 'balance', params: { wallet: '$provider.wallet' } },
    expect: {
      status: 200,
      body: {
        agent_id: null,
        summaries: [
          { tag1: 'starred', count: 0 },
          { tag1: 'successRate', count: 0 },
        ],
        anchors: [],
      },
    },
  },
  {
    row: 'getOnchainReputation',
    kind: 'wrong_role',
    that: 'who does not pay is told the price',
    given: ['the provider'],
    request: { as: 'anonymous', params: { wallet: '$provider.wallet' } },
    expect: { status: 402, body: { accepts: [{ maxAmountRequired: '5000' }] }, code: 'payment_required' },
  },
  {
    row: 'getOnchainReputation',
    kind: 'wrong_state',
    that: 'a wallet that never registered is not sold',
    request: { as: 'stranger', params: { wallet: NOBODY } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'getOnchainReputation',
    kind: 'bad_input',
    that: 'a wallet is an address',
    request: { as: 'stranger', params: { wallet: '0x12' } },
    expect: { status: 400, code: 'invalid_request', field: 'wallet' },
  },
  {
    row: 'getFeedbackFile',
    kind: 'success',
    that: 'it says how the job ended, and nothing that was said or sent in it',
    given: ['a counted job'],
    request: { as: 'anonymous', params: { jobId: '$job' } },
    expect: {
      status: 200,
      body: { tag1: 'starred', tag2: 'human_service', valueDecimals: 1, also: [{ tag1: 'successRate', value: 100 }] },
    },
  },
  { row: 'getFeedbackFile', kind: 'wrong_role', exempt: open },
  {
    row: 'getFeedbackFile',
    kind: 'wrong_state',
    that: 'a job that has not ended has none',
    given: ['an identity of the provider', 'a job'],
    request: { as: 'buyer', params: { jobId: '$job' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'getFeedbackFile',
    kind: 'bad_input',
    that: 'what is no job has none',
    request: { as: 'anonymous', params: { jobId: 'evidence' } },
    expect: { status: 404, code: 'not_found' },
  },
  {
    row: 'getEvidence',
    kind: 'success',
    that: 'the facts of each job are there, with the score that follows',
    given: ['a counted job'],
    request: { as: 'anonymous', params: { root: '$root' } },
    expect: {
      status: 200,
      body: { subject_id: '$provider', previous: null, jobs: [{ outcome: 'delivered', dispute: 'none' }] },
    },
  },
  { row: 'getEvidence', kind: 'wrong_role', exempt: open },
  { row: 'getEvidence', kind: 'wrong_state', exempt: 'a document is there for ever' },
  {
    row: 'getEvidence',
    kind: 'bad_input',
    that: 'a root that names nothing is not found',
    request: { as: 'anonymous', params: { root: `0x${'0'.repeat(64)}` } },
    expect: { status: 404, code: 'not_found' },
  },
]
