import { z } from 'zod'
import { StoredHex, StoredWallet } from '../../../src/core/codecs.ts'
import { serviceTypes } from '../../../src/model/service.ts'
import { disputeEnds, documentKinds, standingKinds } from '../../../src/model/words.ts'
import { type AnyCollection, defineCollection } from '../../store/port.ts'
import type { JobRow } from '../jobs/rows.ts'

/** Life of something that is written to the chain: made, about to be sent, there. */
const publicationStates = ['created', 'sent', 'confirmed', 'failed'] as const

/** The ERC-8004 identity that a participant showed to be its own (decisions §6). */
export const IdentityLinkRow = z.strictObject({
  /** Id of the participant. */
  id: z.string(),
  version: z.int(),
  /** Owner of the identity when it was linked. */
  wallet: StoredWallet,
  /** Decimal; the first one is 0. */
  agent_id: z.string(),
  /** `eip155:<chain id>:<registry>`, lower case. */
  agent_registry: z.string(),
  /** Wall time. */
  linked_at: z.int(),
})
export type IdentityLinkRow = z.infer<typeof IdentityLinkRow>

const bytes32 = StoredHex

/** The calls as they were fixed before they were first sent: every later attempt makes them again. */
export const Publishing = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('feedback'),
    agent_id: z.string(),
    client: StoredWallet,
    value: z.int(),
    value_decimals: z.int(),
    tag1: z.string(),
    tag2: z.string(),
    endpoint: z.string(),
    uri: z.string(),
    hash: bytes32,
  }),
  z.strictObject({ kind: z.literal('anchor'), subject: bytes32, root: bytes32, uri: z.string() }),
])
export type Publishing = z.infer<typeof Publishing>

export const PublicationRow = z.strictObject({
  /** `feedback:<job id>:<tag>` or `anchor:<root>`: the idempotency key on the chain, too. */
  id: z.string(),
  version: z.int(),
  /** Provider whom it is about. */
  subject_id: z.string(),
  call: Publishing,
  status: z.enum(publicationStates),
  /** Until confirmed or failed. */
  open: z.boolean(),
  attempts: z.int(),
  last_error: z.string().nullable(),
  /** Business time of the next attempt. */
  next_attempt_at: z.int(),
  transaction: bytes32.nullable(),
  created_at: z.int(),
  updated_at: z.int(),
})
export type PublicationRow = z.infer<typeof PublicationRow>

/** All that a job's score is made from. Times are durations in milliseconds. */
export const JobFacts = z.strictObject({
  outcome: z.enum(['delivered', 'failed']),
  dispute: z.enum(disputeEnds),
  /** 1 to 5, null where the buyer gave none. */
  rating: z.int().nullable(),
  /** From dispatch to delivery; null when nothing was delivered. */
  taken_ms: z.int().nullable(),
  /** What the listing promised; null where that named no time. */
  estimate_ms: z.int().nullable(),
  /** From dispatch to the provider's first word or report; null when there was none. */
  response_ms: z.int().nullable(),
})
export type JobFacts = z.infer<typeof JobFacts>

/** What jobs add up to. Dimensions are points (0 to 100 a job), `score` is tenths of a point (0 to 1,000 a job). */
export const Sums = z.strictObject({
  jobs: z.int(),
  successful: z.int(),
  failed: z.int(),
  disputed: z.int(),
  quality: z.int(),
  reliability: z.int(),
  speed: z.int(),
  communication: z.int(),
  score: z.int(),
})
export type Sums = z.infer<typeof Sums>

/** A job that counts, as it was last counted. */
export const CountedJobRow = z.strictObject({
  /** Id of the job. */
  id: z.string(),
  version: z.int(),
  provider_id: z.string(),
  service_id: z.string(),
  service_type: z.enum(serviceTypes),
  facts: JobFacts,
  /** What it adds. */
  sums: Sums,
  /** Place among its provider's entries; a job that changed after its document was closed gets a new one. */
  number: z.int(),
  /** Evidence document that the entry belongs to. */
  part: z.int(),
  /** What the same job added in an earlier document, which this entry replaces. */
  replaces: Sums.nullable(),
})
export type CountedJobRow = z.infer<typeof CountedJobRow>

/** The reputation of a provider, of one of its services, or of what it does of one service type. */
export const StandingRow = z.strictObject({
  /** See `store/standings.ts`. */
  id: z.string(),
  version: z.int(),
  kind: z.enum(standingKinds),
  provider_id: z.string(),
  sums: Sums,
  /** When an endpoint of the provider last took a synthetic job; business time. Of providers only. */
  tested_at: z.int().nullable(),
  /** Business time of the last change of `sums`; null before the first job. */
  updated_at: z.int().nullable(),
})
export type StandingRow = z.infer<typeof StandingRow>

/** Where the evidence of a provider stands: a chain of documents, the last one open until it is full. */
export const EvidenceRow = z.strictObject({
  /** Id of the provider. */
  id: z.string(),
  version: z.int(),
  /** True while jobs were counted that no document holds. */
  due: z.boolean(),
  /** Business time of the earliest of them. */
  due_at: z.int(),
  /** Entries so far. */
  entries: z.int(),
  /** Document that new entries belong to, and how many it has. */
  part: z.int(),
  part_entries: z.int(),
  /** Document to be built next: `part`, or an earlier one that is full and not built yet. */
  open_part: z.int(),
  /** What all documents before it add up to, and the root of the last of them. */
  before: Sums,
  previous: bytes32.nullable(),
  /** Root of the latest document. */
  root: bytes32.nullable(),
  /** Documents built. */
  built: z.int(),
})
export type EvidenceRow = z.infer<typeof EvidenceRow>

/** RFC 8785 bytes that were made once and never change. */
export const DocumentRow = z.strictObject({
  /** `feedback:<job id>` or `evidence:<root>`. */
  id: z.string(),
  version: z.int(),
  kind: z.enum(documentKinds),
  /** UTF-8 text of the bytes. */
  text: z.string(),
  /** keccak-256 of the bytes. */
  hash: bytes32,
  at: z.int(),
})
export type DocumentRow = z.infer<typeof DocumentRow>

export const identityLinks = defineCollection('identity_links', {
  schema: IdentityLinkRow,
  key: 'id',
  indexes: [{ name: 'agent', fields: ['agent_registry', 'agent_id'], unique: true }],
})

export const countedJobs = defineCollection('counted_jobs', {
  schema: CountedJobRow,
  key: 'id',
  indexes: [{ name: 'entries', fields: ['provider_id', 'part', 'number'] }],
})

export const standings = defineCollection('standings', {
  schema: StandingRow,
  key: 'id',
  indexes: [],
})

export const evidence = defineCollection('evidence', {
  schema: EvidenceRow,
  key: 'id',
  indexes: [{ name: 'due', fields: ['due_at'], where: { field: 'due', equals: true } }],
})

export const documents = defineCollection('documents', { schema: DocumentRow, key: 'id', indexes: [] })

export const publications = defineCollection('publications', {
  schema: PublicationRow,
  key: 'id',
  indexes: [{ name: 'due', fields: ['next_attempt_at'], where: { field: 'open', equals: true } }],
})

export const reputationCollections: readonly AnyCollection[] = [
  identityLinks,
  countedJobs,
  standings,
  evidence,
  documents,
  publications,
]

/** A job with what it is worth, as it was counted before and as it is now. */
export type Counted = {
  readonly job: JobRow
  readonly facts: JobFacts
  readonly sums: Sums
  readonly known: CountedJobRow | undefined
  /** Business time. */
  readonly at: number
}
