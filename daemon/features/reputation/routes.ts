import { z } from 'zod'
import type { Answer } from '../../../src/api/endpoint/define.ts'
import { api } from '../../../src/api/index.ts'
import type { reputationApi } from '../../../src/api/sections/reputation.ts'
import type { Trust } from '../../../src/api/sections/services.ts'
import { Address } from '../../../src/core/codecs.ts'
import { AppError, existing, invalidField, notFound } from '../../../src/core/error.ts'
import { checksumAddress, type Wallet } from '../../../src/core/hex.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { type ParticipantRow, participantOfWallet } from '../../kernel/rows.ts'
import { readPlatform } from '../../kernel/switches.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { jobParties } from '../jobs/rows.ts'
import { services } from '../listings/rows.ts'
import { fixedFee, type Handlers } from '../payments/seller.ts'
import { viewCounts } from '../stats/routes.ts'
import { evidenceId, feedbackId } from './enter-evidence.ts'
import { subjectHash } from './evidence.ts'
import { feedbackTags } from './reputation.ts'
import { documents, evidence, identityLinks, type StandingRow, type Sums, standings } from './rows.ts'
import { ESTABLISHED_JOBS, NO_JOBS, type Standing, standingOf } from './score.ts'
import { lockStanding, ofProvider } from './standings.ts'

type Onchain = Answer<typeof api.getOnchainReputation>

const MAX_ANCHORS = 20

/** On-chain data of a participant: souk's feedback summaries by tag and service type, and the anchors. */
async function readOnchain(ctx: Context, subject: ParticipantRow): Promise<Onchain> {
  const link = await ctx.store.table(identityLinks).get(subject.id)
  const anchors = await ctx.chain.verdictAnchors.latest(subjectHash(subject.id), MAX_ANCHORS)
  return {
    wallet: subject.wallet,
    agent_registry: link?.agent_registry ?? null,
    agent_id: link?.agent_id ?? null,
    summaries: link ? await summaries(ctx, BigInt(link.agent_id)) : feedbackTags.map(emptySummary),
    anchors: anchors.map(({ at, ...anchor }) => ({ ...anchor, anchored_at: at })),
  }
}

async function summaries({ chain }: Context, agentId: bigint): Promise<Onchain['summaries']> {
  const { reputationRegistry: feedback } = chain
  const clients = feedback.clients()
  const found = []
  for (const tag1 of feedbackTags) {
    const types = await Promise.all(clients.map((client) => feedback.secondTags({ agentId, client, tag1 })))
    for (const tag2 of ['', ...[...new Set(types.flat())].sort()]) {
      const summary = await feedback.getSummary({ agentId, clients, tag1, tag2 })
      const { count, value, valueDecimals } = summary
      found.push({ tag1, tag2, count: Number(count), value: Number(value), value_decimals: valueDecimals })
    }
  }
  return found
}

function emptySummary(tag1: string): Onchain['summaries'][number] {
  return { tag1, tag2: '', count: 0, value: 0, value_decimals: 0 }
}

const FOREVER = 'public, max-age=31536000, immutable'

export const reputationRoutes: Handlers<typeof reputationApi> = {
  getReputations: async ({ body }, { ctx, now, visitor }) => {
    viewCounts.of(ctx).count('trust_queries', visitor())
    const asked = { now, baseUrl: ctx.baseUrl() }
    return ctx.store.read(async (t) => {
      const verdicts = []
      for (const wallet of body.wallets) verdicts.push(await verdictOn(t, wallet, asked))
      return { verdicts }
    })
  },

  /** Reads the chain before the payment, so that a failed read costs nothing. */
  getOnchainReputation: {
    async check({ params }, { ctx }) {
      await subjectAt(ctx, walletIn(params))
    },

    async run({ params }, { ctx }) {
      const subject = await subjectAt(ctx, walletIn(params))
      const found = await readOnchain(ctx, subject).catch((error: unknown) => {
        ctx.log.warn({ source: 'reputation', err: String(error) }, 'the chain did not answer')
        throw new AppError('unavailable', 'The chain does not answer; nothing was charged.', { retryAfter: 60 })
      })
      return z.encode(api.getOnchainReputation.reply.schema, found)
    },

    async fulfil(_t, _draw, { result, payment, source }) {
      return fixedFee(
        { payment, source },
        { kind: 'receipt', id: payment.receipt_id },
        z.decode(api.getOnchainReputation.reply.schema, result as z.input<Reply>),
      )
    },
  },

  getFeedbackFile: async ({ params }, { ctx }) => served(ctx, feedbackId(params.jobId), 'The feedback file'),
  getEvidence: async ({ params }, { ctx }) => served(ctx, evidenceId(params.root.toLowerCase()), 'The evidence'),

  getReputation: async ({ params }, { ctx, now, visitor }) => {
    const wallet = walletIn(params)
    viewCounts.of(ctx).count('trust_queries', visitor())
    return ctx.store.read((t) => verdictOn(t, wallet, { now, baseUrl: ctx.baseUrl() }))
  },
}

async function verdictOn(t: ReadTx, wallet: Wallet, asked: TrustAsked) {
  const subject = await participantOfWallet(t, wallet)
  if (!subject) return { wallet, ...trustOfStranger(), evidence_root: null }
  const state = await t.table(evidence).get(subject.id)
  return { wallet, ...(await trustOf(t, subject, asked)), evidence_root: state?.root ?? null }
}

/** @throws AppError 400 that names the parameter. */
function walletIn({ wallet }: { readonly wallet: string }): Wallet {
  const parsed = Address.safeParse(wallet)
  if (!parsed.success) throw invalidField('wallet', 'must be an address: 0x and 40 hex digits')
  return parsed.data
}

type Reply = (typeof reputationApi.getOnchainReputation)['reply']['schema']

async function subjectAt(ctx: Context, wallet: Wallet): Promise<ParticipantRow> {
  return existing(await ctx.store.read((t) => participantOfWallet(t, wallet)), 'The wallet')
}

/** Serves the stored bytes, because serialising again could change the hash. */
async function served(ctx: Context, id: string, what: string) {
  const row = await ctx.store.table(documents).get(id)
  if (!row) throw notFound(what)
  return { bytes: Buffer.from(row.text), etag: `"${row.hash}"`, cache: FOREVER }
}

/* Trust verdicts (decisions §11): `verified` from `VERIFIED_SCORE` on, `degraded` from `DEGRADED_SCORE` on. */

const VERIFIED_SCORE = 70
const DEGRADED_SCORE = 40
/** A subject is flagged if one in N of its jobs was disputed, or one in N was not completed. */
const FLAGGED_ONE_IN = 5

type Label = 'verified' | 'degraded' | 'failed' | 'unknown'
type Verdict = Label | 'withheld'

export const bands: Readonly<Record<Verdict, number | null>> = {
  verified: 100,
  degraded: 50,
  failed: 0,
  unknown: null,
  withheld: null,
}

export function labelOf({ total_jobs: jobs, score }: Pick<Standing, 'total_jobs' | 'score'>): Label {
  if (jobs === 0) return 'unknown'
  if (score >= VERIFIED_SCORE) return jobs < ESTABLISHED_JOBS ? 'unknown' : 'verified'
  return score >= DEGRADED_SCORE ? 'degraded' : 'failed'
}

/** The label, or `withheld` for a negative label while the switch for negative labels is off. */
export function verdictOf(label: Label, showsNegative: boolean): Verdict {
  return showsNegative || label === 'unknown' || label === 'verified' ? label : 'withheld'
}

export const levelNames = ['indexed', 'reachable', 'sandbox_verified', 'job_proven', 'identity_verified'] as const
type EvidenceLevel = 0 | 1 | 2 | 3 | 4

type LevelFacts = {
  /** Whether an active listing is available: its endpoint is healthy, or the listing is first-party. */
  readonly isReachable: boolean
  /** Whether an endpoint of the participant accepted a test job. */
  readonly isTested: boolean
  /** Number of jobs delivered to paying buyers. */
  readonly successfulJobs: number
  readonly isIdentified: boolean
}

/**
 * Trust level. A higher proof includes the lower ones, because a delivery implies reachability. A verified identity
 * counts only together with deliveries.
 */
export function levelOf({ isReachable, isTested, successfulJobs, isIdentified }: LevelFacts): EvidenceLevel {
  if (successfulJobs > 0) return isIdentified ? 4 : 3
  if (isTested) return 2
  return isReachable ? 1 : 0
}

const riskFlags = ['often_disputed', 'often_failed', 'unreachable'] as const
type RiskFlag = (typeof riskFlags)[number]

/** Warnings about an established subject. They are hidden like negative labels. */
export function riskFlagsOf(sums: Sums, { isReachable }: Pick<LevelFacts, 'isReachable'>): RiskFlag[] {
  if (sums.jobs < ESTABLISHED_JOBS) return []
  const raised: Readonly<Record<RiskFlag, boolean>> = {
    often_disputed: sums.disputed * FLAGGED_ONE_IN >= sums.jobs,
    often_failed: sums.failed * FLAGGED_ONE_IN >= sums.jobs,
    unreachable: !isReachable,
  }
  return riskFlags.filter((flag) => raised[flag])
}

export function judge(sums: Sums, facts: LevelFacts, options: { readonly showsNegative: boolean }) {
  const standing = standingOf(sums)
  const verdict = verdictOf(labelOf(standing), options.showsNegative)
  const level = levelOf(facts)
  return {
    verdict,
    level,
    level_name: levelNames[level],
    confidence: standing.confidence,
    risk_flags: options.showsNegative ? riskFlagsOf(sums, facts) : [],
    score: bands[verdict],
    is_new: standing.is_new,
  }
}

type TrustView = z.output<typeof Trust>

/** Name of the switch that shows negative verdicts (decisions §11). */
export const NEGATIVE_LABELS = 'trust.negative_labels'

/** How long a verdict is valid. */
const VERDICT_MS = DAY_MS

export type TrustAsked = { readonly now: number; readonly baseUrl: string }

/** Trust verdict on a participant, from stored data (specification, Trust object). */
export async function trustOf(t: ReadTx, subject: ParticipantRow, { now, baseUrl }: TrustAsked): Promise<TrustView> {
  const standing = await t.table(standings).get(ofProvider(subject.id).id)
  const { enabled } = await readPlatform(t)
  const facts = await levelFacts(t, subject, standing)
  const judged = judge(standing?.sums ?? NO_JOBS, facts, { showsNegative: enabled.includes(NEGATIVE_LABELS) })
  const issuedAt = issueTime(standing?.updated_at ?? null, now)
  return {
    ...judged,
    sandbox_verified: facts.isTested,
    disputed: (await t.table(jobParties).count('wallet_role_status', [subject.wallet, 'provider', 'disputed'])) > 0,
    issued_at: issuedAt,
    expires_at: issuedAt === null ? null : issuedAt + VERDICT_MS,
    subject_id: subject.id,
    subject_count: await t.table(services).count('provider', [subject.id, 'active']),
    trust_url: `${baseUrl}/v1/reputation/${checksumAddress(subject.wallet)}`,
    first_party: subject.first_party,
  }
}

/** The verdict on a wallet that never registered. */
function trustOfStranger(): TrustView {
  return {
    verdict: 'unknown',
    level: 0,
    level_name: 'indexed',
    confidence: 0,
    sandbox_verified: false,
    disputed: false,
    risk_flags: [],
    issued_at: null,
    expires_at: null,
    subject_id: null,
    subject_count: 0,
    trust_url: null,
    first_party: false,
    score: null,
    is_new: true,
  }
}

/** Issue time of a verdict: the time of the last job count, plus all whole validity periods since then. */
function issueTime(countedAt: number | null, now: number): number | null {
  if (countedAt === null) return null
  return countedAt + Math.floor(Math.max(0, now - countedAt) / VERDICT_MS) * VERDICT_MS
}

async function levelFacts(
  t: ReadTx,
  { id, verification_tier: tier }: ParticipantRow,
  standing: StandingRow | undefined,
): Promise<LevelFacts> {
  return {
    isReachable: (await t.table(services).count('healthy', [id, 'active'])) > 0,
    isTested: (standing?.tested_at ?? null) !== null,
    successfulJobs: standing?.sums.successful ?? 0,
    isIdentified: tier === 'identity_verified',
  }
}

/** Records that a provider's endpoint accepted a test job. */
export async function noteTested(t: Tx, providerId: string, at: number): Promise<void> {
  const row = await lockStanding(t, ofProvider(providerId), NO_JOBS)
  await t.table(standings).put({ ...row, tested_at: at })
}
