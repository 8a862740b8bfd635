import { z } from 'zod'
import { Address, Bytes32, namedObject, Time } from '../../core/codecs.ts'
import { usdc } from '../../core/money.ts'
import { bytes, endpointsWith, json, jsonBody, open, paid } from '../endpoint/define.ts'
import { Trust } from './services.ts'

const endpoint = endpointsWith({ section: 'Reputation, trace, statistics' })
/** Wallets per batch (specification, Limits). */
export const MAX_BATCH = 20
export const ONCHAIN_PRICE = usdc(5_000n)

/** Verdict on a wallet; `unknown` if the wallet is not registered. */
const WalletTrust = Trust.extend({
  wallet: Address,
  evidence_root: Bytes32.nullable().meta({ description: 'root hash of the evidence for the score' }),
}).meta({ id: 'WalletTrust' })

const FeedbackSummary = namedObject('FeedbackSummary', {
  tag1: z.string().meta({ description: 'starred: scores of jobs; successRate: share of successful jobs' }),
  tag2: z.string().meta({ description: 'service type; empty: all of them' }),
  count: z.int(),
  value: z.number().meta({ description: 'mean score, 0 to 100, times 10 to the power of `value_decimals`' }),
  value_decimals: z.int(),
})

const VerdictAnchor = namedObject('VerdictAnchor', {
  subject: Bytes32.meta({ description: 'keccak-256 of the subject_id' }),
  root: Bytes32.meta({ description: 'root hash of the evidence' }),
  seq: z.int(),
  uri: z.string(),
  transaction: Bytes32,
  anchored_at: Time,
})

export const reputationApi = {
  getReputations: endpoint({
    path: '/v1/reputation/batch',
    access: open,
    body: jsonBody({ wallets: z.array(Address).min(1).max(MAX_BATCH) }),
    reply: json({ verdicts: z.array(WalletTrust).meta({ description: 'in the requested order' }) }),
    summary: 'verdicts for up to 20 wallets, same shape per entry',
  }),

  getOnchainReputation: endpoint({
    path: '/v1/reputation/:wallet/onchain',
    access: paid(ONCHAIN_PRICE),
    reply: json({
      wallet: Address,
      agent_registry: z.string().nullable(),
      agent_id: z.string().nullable().meta({ description: 'null: no identity is linked' }),
      summaries: z.array(FeedbackSummary),
      anchors: z.array(VerdictAnchor).meta({ description: 'newest first' }),
    }),
    summary: 'live on-chain reputation: ERC-8004 feedback summaries (both tags) plus per-subject verdict anchors',
  }),

  getFeedbackFile: endpoint({
    path: '/v1/reputation/feedback/:jobId.json',
    access: open,
    reply: bytes('application/json'),
    summary: 'immutable ERC-8004 feedback file (keccak256-verifiable bytes)',
  }),

  getEvidence: endpoint({
    path: '/v1/reputation/evidence/:root.json',
    access: open,
    reply: bytes('application/json'),
    summary: 'content-addressed score evidence for a score registry evidence root',
  }),

  getReputation: endpoint({
    path: '/v1/reputation/:wallet',
    access: open,
    reply: json(WalletTrust),
    errors: [],
    summary: 'trust verdict object for a wallet',
  }),
}
