import { z } from 'zod'
import { StoredHex, StoredWallet } from '../../../../src/core/codecs.ts'
import { defineCollection, stored } from '../../../store/port.ts'

const wallet = StoredWallet
const bytes32 = StoredHex

const SandboxAgentRow = z.strictObject({
  /** Agent id, decimal. */
  ...stored,
  owner: wallet,
  /** Epoch milliseconds by the machine's clock, as in the rows below. */
  at: z.int(),
})

const SandboxFeedbackRow = z.strictObject({
  ...stored,
  agent_id: z.string(),
  client: wallet,
  /** Number of this feedback among all that the client gave the agent, from 1. */
  index: z.int(),
  value: z.bigint(),
  value_decimals: z.int(),
  tag1: z.string(),
  tag2: z.string(),
  endpoint: z.string(),
  uri: z.string(),
  hash: bytes32,
  transaction: bytes32,
  at: z.int(),
})

const SandboxAnchorRow = z.strictObject({
  /** Order id. */
  ...stored,
  subject: bytes32,
  root: bytes32,
  seq: z.int(),
  uri: z.string(),
  transaction: bytes32,
  at: z.int(),
})

/** Registry addresses of a sandbox, created at the first open. */
export const sandboxRegistries = defineCollection('sandbox_registries', {
  schema: z.strictObject({
    id: z.literal('registries'),
    version: z.int(),
    identity: wallet,
    reputation: wallet,
    anchors: wallet,
    /** Next identity id; starts at 0. */
    next_agent: z.int(),
  }),
  indexes: [],
})
export type SandboxRegistriesRow = z.infer<typeof sandboxRegistries.schema>

export const sandboxAgents = defineCollection('sandbox_agents', { schema: SandboxAgentRow, indexes: [] })

export const sandboxFeedback = defineCollection('sandbox_feedback', {
  schema: SandboxFeedbackRow,
  indexes: [{ name: 'agent', fields: ['agent_id', 'client', 'tag1', 'tag2', 'index'] }],
})

export const sandboxAnchors = defineCollection('sandbox_anchors', {
  schema: SandboxAnchorRow,
  indexes: [{ name: 'subject', fields: ['subject', 'seq'], unique: true, order: 'desc' }],
})

export const sandboxRegistryCollections = [sandboxRegistries, sandboxAgents, sandboxFeedback, sandboxAnchors] as const
