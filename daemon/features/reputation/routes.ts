import { z } from 'zod'
import type { Answer } from '../../../src/api/endpoint/define.ts'
import { api } from '../../../src/api/index.ts'
import type { reputationApi } from '../../../src/api/sections/reputation.ts'
import { Address } from '../../../src/core/codecs.ts'
import { AppError, existing, invalidField, notFound } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import type { Context } from '../../kernel/context.ts'
import { participantOfWallet } from '../../kernel/participant.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { fixedFee, type Handlers } from '../payments/seller.ts'
import { viewCounts } from '../stats/routes.ts'
import { evidenceId, feedbackId } from './enter-evidence.ts'
import { subjectHash } from './evidence.ts'
import { feedbackTags } from './reputation.ts'
import { documents, evidence, identityLinks } from './rows.ts'
import { type TrustAsked, trustOf, trustOfStranger } from './trust.ts'

type Onchain = Answer<typeof api.getOnchainReputation>

/** Anchors per response. */
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
  const { client } = feedback
  const found = []
  for (const tag1 of feedbackTags) {
    const types = await feedback.secondTags({ agentId, client, tag1 })
    for (const tag2 of ['', ...types]) {
      const summary = await feedback.getSummary({ agentId, clients: [client], tag1, tag2 })
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
