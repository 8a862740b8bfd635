import { z } from 'zod'
import { StoredHex, StoredWallet } from '../../../src/core/codecs.ts'
import { serviceTypes } from '../../../src/model/service.ts'
import { disputeEnds, documentKinds, standingKinds } from '../../../src/model/words.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'
import type { JobRow } from '../jobs/rows.ts'

const publicationStates = ['created', 'sent', 'confirmed', 'failed'] as const

const bytes32 = StoredHex

/** The chain calls of a publication. They are fixed before the first attempt, and retries repeat them. */
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

/** Facts behind a job's score. Durations in milliseconds. */
export const JobFacts = z.strictObject({
  outcome: z.enum(['delivered', 'failed']),
  dispute: z.enum(disputeEnds),
  /** 1 to 5; null if not rated. */
  rating: z.int().nullable(),
  /** Milliseconds from dispatch to delivery; null if there is no delivery. */
  taken_ms: z.int().nullable(),
  /** Promised duration; null if none. */
  estimate_ms: z.int().nullable(),
  /** From dispatch to the provider's first message or report; null if none. */
  response_ms: z.int().nullable(),
})
export type JobFacts = z.infer<typeof JobFacts>

/** Sums over jobs. Dimensions are points (0 to 100 per job), `score` is tenths of a point (0 to 1,000 per job). */
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

/** An ERC-8004 identity that a participant proved to own (decisions §6). */
export const identityLinks = defineCollection('identity_links', {
  schema: z.strictObject({
    /** Id of the participant. */
    ...stored,
    /** Owner at the time of linking. */
    wallet: StoredWallet,
    /** Decimal; starts at 0. */
    agent_id: z.string(),
    /** `eip155:<chain id>:<registry>`, lower case. */
    agent_registry: z.string(),
    /** Wall time. */
    linked_at: z.int(),
  }),
  indexes: [{ name: 'agent', fields: ['agent_registry', 'agent_id'], unique: true }],
})
export type IdentityLinkRow = z.infer<typeof identityLinks.schema>

/** A job that counts for reputation, as it was last counted. */
export const countedJobs = defineCollection('counted_jobs', {
  schema: z.strictObject({
    /** The `id` in `stored` is the id of the job. */
    ...stored,
    provider_id: z.string(),
    service_id: z.string(),
    service_type: z.enum(serviceTypes),
    facts: JobFacts,
    /** Its contribution. */
    sums: Sums,
    /** Number among the provider's entries. A job that changes after its document closed gets a new entry. */
    number: z.int(),
    /** Number of the evidence document that contains the entry. */
    part: z.int(),
    /** Earlier contribution of the job, which this entry replaces; null if there is none. */
    replaces: Sums.nullable(),
  }),
  indexes: [{ name: 'entries', fields: ['provider_id', 'part', 'number'] }],
})
export type CountedJobRow = z.infer<typeof countedJobs.schema>

/** Reputation of a provider, of a service, or of a provider's service type. */
export const standings = defineCollection('standings', {
  schema: z.strictObject({
    /** See `store/standings.ts`. */
    ...stored,
    kind: z.enum(standingKinds),
    provider_id: z.string(),
    sums: Sums,
    /** Business time when an endpoint last accepted a test job. Only for providers. */
    tested_at: z.int().nullable(),
    /** Business time of the last change; null before the first job. */
    updated_at: z.int().nullable(),
  }),
  indexes: [],
})
export type StandingRow = z.infer<typeof standings.schema>

/** State of a provider's evidence, which is a chain of documents. The last document is open. */
export const evidence = defineCollection('evidence', {
  schema: z.strictObject({
    /** The row's id is the provider's id. */
    ...stored,
    /** True while counted jobs are missing from the documents. */
    due: z.boolean(),
    /** Business time of the earliest counted job that is in no document yet. */
    due_at: z.int(),
    /** Entries so far. */
    entries: z.int(),
    /** Number of the document that gets new entries. `part_entries` counts the entries in it. */
    part: z.int(),
    part_entries: z.int(),
    /** Number of the next document to build: `part`, or a smaller one while earlier, full documents are not built yet. */
    open_part: z.int(),
    /** Sums of all documents before `open_part`. `previous` is the root of the last such document. */
    before: Sums,
    previous: bytes32.nullable(),
    /** Root (hash) of the latest document. */
    root: bytes32.nullable(),
    built: z.int(),
  }),
  indexes: [{ name: 'due', fields: ['due_at'], where: { field: 'due', equals: true } }],
})
export type EvidenceRow = z.infer<typeof evidence.schema>

/** A published document. Its bytes are in RFC 8785 form and never change. */
export const documents = defineCollection('documents', {
  schema: z.strictObject({
    /** `feedback:<job id>` or `evidence:<root>`. */
    ...stored,
    kind: z.enum(documentKinds),
    /** The document's bytes as UTF-8 text. */
    text: z.string(),
    /** keccak-256 of the bytes. */
    hash: bytes32,
    at: z.int(),
  }),
  indexes: [],
})

export const publications = defineCollection('publications', {
  schema: z.strictObject({
    /** `feedback:<job id>:<tag>` or `anchor:<root>`. Also the idempotency key on the chain. */
    ...stored,
    /** The provider concerned. */
    subject_id: z.string(),
    call: Publishing,
    status: z.enum(publicationStates),
    /** True until the chain write is confirmed or has failed. */
    open: z.boolean(),
    attempts: z.int(),
    last_error: z.string().nullable(),
    /** Business time of the next attempt. */
    next_attempt_at: z.int(),
    transaction: bytes32.nullable(),
    created_at: z.int(),
    updated_at: z.int(),
  }),
  indexes: [{ name: 'due', fields: ['next_attempt_at'], where: { field: 'open', equals: true } }],
})
export type PublicationRow = z.infer<typeof publications.schema>

export const reputationCollections: readonly AnyCollection[] = [
  identityLinks,
  countedJobs,
  standings,
  evidence,
  documents,
  publications,
]

/** A job to count, with its new values and its earlier count. */
export type Counted = {
  readonly job: JobRow
  readonly facts: JobFacts
  readonly sums: Sums
  readonly known: CountedJobRow | undefined
  readonly at: number
}
