import { AdminActRow } from '../../src/model/admin-act.ts'
import { CronRow } from '../../src/model/cron.ts'
import { DeliveryRow } from '../../src/model/delivery.ts'
import { CounterRow, EventRow, SettingRow } from '../../src/model/event.ts'
import { HistoryRow } from '../../src/model/history.ts'
import { IdentityLinkRow } from '../../src/model/identity-link.ts'
import { DeliverablesRow, JobRow } from '../../src/model/job.ts'
import { AccountRow, LedgerRow } from '../../src/model/ledger.ts'
import { MessageRow } from '../../src/model/message.ts'
import { ParticipantRow } from '../../src/model/participant.ts'
import { PartyRow } from '../../src/model/party.ts'
import { AnswerRow, IdempotencyRow, PaymentRow } from '../../src/model/payment.ts'
import { PayoutRow } from '../../src/model/payout.ts'
import { PlanRow } from '../../src/model/plan.ts'
import { BidRow, FanoutRow, NoticeRow, OptInRow, PostingRow } from '../../src/model/posting.ts'
import { PublicationRow } from '../../src/model/publication.ts'
import { CountedJobRow, DocumentRow, EvidenceRow, StandingRow, UncountedJobRow } from '../../src/model/reputation.ts'
import { ServiceRow } from '../../src/model/service.ts'
import { CoverageRow, SubscriptionRow } from '../../src/model/subscription.ts'
import { TallyRow } from '../../src/model/tally.ts'
import { ThreadRow } from '../../src/model/thread.ts'
import { TraceRow } from '../../src/model/trace.ts'
import { unservedPeriods } from './collections-attention.ts'
import { adminAnswers, earnings, sanctions } from './collections-money.ts'
import { attempts } from './collections-people.ts'
import { watchCallers, watchDays } from './collections-watch.ts'
import { products, purchases, threadFiles } from './file-collections.ts'
import { type AnyCollection, type Collection, defineCollection } from './port.ts'

export const participants = defineCollection('participants', {
  schema: ParticipantRow,
  key: 'id',
  indexes: [
    { name: 'wallet', fields: ['wallet'], unique: true },
    { name: 'key', fields: ['key_hash'], unique: true },
    { name: 'newest', fields: ['created_at'], order: 'desc' },
    { name: 'referrer', fields: ['referred_by', 'created_at'], order: 'desc' },
    { name: 'type', fields: ['type', 'created_at'], order: 'desc' },
    { name: 'tier', fields: ['verification_tier', 'created_at'], order: 'desc' },
    { name: 'type_tier', fields: ['type', 'verification_tier', 'created_at'], order: 'desc' },
    { name: 'directory', fields: ['created_at'], order: 'desc', where: { field: 'in_directory', equals: true } },
    {
      name: 'directory_type',
      fields: ['type', 'created_at'],
      order: 'desc',
      where: { field: 'in_directory', equals: true },
    },
  ],
})

export const identityLinks = defineCollection('identity_links', {
  schema: IdentityLinkRow,
  key: 'id',
  indexes: [{ name: 'agent', fields: ['agent_registry', 'agent_id'], unique: true }],
})

export const services = defineCollection('services', {
  schema: ServiceRow,
  key: 'id',
  indexes: [
    { name: 'provider', fields: ['provider_id', 'status', 'listed_at'], order: 'desc' },
    { name: 'slug', fields: ['first_party_slug'] },
    { name: 'status', fields: ['status', 'listed_at'], order: 'desc' },
    { name: 'healthy', fields: ['provider_id', 'status'], where: { field: 'webhook_healthy', equals: true } },
  ],
})

export const jobs = defineCollection('jobs', {
  schema: JobRow,
  key: 'id',
  indexes: [
    { name: 'buyer', fields: ['buyer_wallet', 'created_at'], order: 'desc' },
    { name: 'provider', fields: ['provider_id', 'created_at'], order: 'desc' },
    { name: 'status', fields: ['status', 'created_at'], order: 'desc' },
    { name: 'newest', fields: ['created_at'], order: 'desc' },
    { name: 'due', fields: ['next_event', 'next_event_at'], where: { field: 'open', equals: true } },
    { name: 'held', fields: ['created_at'], where: { field: 'escrow_status', equals: 'held' } },
    { name: 'provider_held', fields: ['provider_id'], where: { field: 'escrow_status', equals: 'held' } },
    { name: 'service_open', fields: ['service_id'], where: { field: 'ended_at', equals: null } },
  ],
})

export const deliverables = defineCollection('deliverables', { schema: DeliverablesRow, key: 'id', indexes: [] })

export const threads = defineCollection('threads', {
  schema: ThreadRow,
  key: 'id',
  indexes: [
    { name: 'buyer', fields: ['buyer_wallet', 'updated_at'], order: 'desc' },
    { name: 'provider', fields: ['provider_id', 'updated_at'], order: 'desc' },
    { name: 'newest', fields: ['updated_at'], order: 'desc' },
    { name: 'status', fields: ['status', 'updated_at'], order: 'desc' },
    {
      name: 'service_negotiating',
      fields: ['service_id', 'updated_at'],
      order: 'desc',
      where: { field: 'status', equals: 'negotiating' },
    },
  ],
})

/** Who is a side of what; `store/parties.ts` writes these rows with their subjects. */
function partiesOf(name: string): Collection<PartyRow> {
  return defineCollection(name, {
    schema: PartyRow,
    key: 'id',
    indexes: [
      { name: 'wallet', fields: ['wallet', 'at'], order: 'desc' },
      { name: 'wallet_role', fields: ['wallet', 'role', 'at'], order: 'desc' },
      { name: 'wallet_status', fields: ['wallet', 'status', 'at'], order: 'desc' },
      { name: 'wallet_role_status', fields: ['wallet', 'role', 'status', 'at'], order: 'desc' },
    ],
  })
}

export const jobParties = partiesOf('job_parties')
export const threadParties = partiesOf('thread_parties')
export const subscriptionParties = partiesOf('subscription_parties')

export const plans = defineCollection('plans', {
  schema: PlanRow,
  key: 'id',
  indexes: [
    { name: 'newest', fields: ['status', 'created_at'], order: 'desc' },
    { name: 'provider', fields: ['provider_id', 'status', 'created_at'], order: 'desc' },
  ],
})

export const subscriptions = defineCollection('subscriptions', {
  schema: SubscriptionRow,
  key: 'id',
  indexes: [
    { name: 'due', fields: ['next_event', 'next_event_at'], where: { field: 'live', equals: true } },
    { name: 'live', fields: ['buyer_wallet', 'plan_id'], unique: true, where: { field: 'live', equals: true } },
    { name: 'plan', fields: ['plan_id'], where: { field: 'live', equals: true } },
  ],
})

export const coverage = defineCollection('coverage', {
  schema: CoverageRow,
  key: 'id',
  indexes: [
    { name: 'own', fields: ['buyer_wallet', 'service_id', 'until'], order: 'desc' },
    { name: 'service', fields: ['service_id', 'until'], order: 'desc' },
    { name: 'subscription', fields: ['subscription_id'] },
  ],
})

export const messages = defineCollection('messages', {
  schema: MessageRow,
  key: 'id',
  indexes: [{ name: 'thread', fields: ['thread_id', 'number'], unique: true, order: 'desc' }],
})

export const payments = defineCollection('payments', {
  schema: PaymentRow,
  key: 'id',
  indexes: [
    { name: 'open', fields: ['created_at'], where: { field: 'open', equals: true } },
    { name: 'open_payer', fields: ['payer'], where: { field: 'open', equals: true } },
    { name: 'payer', fields: ['payer', 'created_at'], order: 'desc' },
    { name: 'released', fields: ['updated_at'], where: { field: 'state', equals: 'released' } },
    { name: 'file', fields: ['file_sha256'], where: { field: 'open', equals: true } },
  ],
})

export const answers = defineCollection('answers', {
  schema: AnswerRow,
  key: 'id',
  indexes: [
    { name: 'at', fields: ['at'] },
    { name: 'file', fields: ['file_sha256'] },
  ],
})

export const idempotency = defineCollection('idempotency', {
  schema: IdempotencyRow,
  key: 'id',
  indexes: [{ name: 'at', fields: ['at'] }],
})

export const ledger = defineCollection('ledger', {
  schema: LedgerRow,
  key: 'id',
  indexes: [
    { name: 'seq', fields: ['seq'], unique: true },
    { name: 'at', fields: ['at'] },
    { name: 'job', fields: ['ref_id', 'seq'], where: { field: 'ref_kind', equals: 'job' } },
  ],
})

export const accounts = defineCollection('accounts', {
  schema: AccountRow,
  key: 'id',
  indexes: [{ name: 'kind', fields: ['kind'] }],
})

export const history = defineCollection('history', {
  schema: HistoryRow,
  key: 'key',
  indexes: [{ name: 'participant', fields: ['participant_id', 'seq'], order: 'desc' }],
})

export const payouts = defineCollection('payouts', {
  schema: PayoutRow,
  key: 'id',
  indexes: [
    { name: 'due', fields: ['next_attempt_at'], where: { field: 'open', equals: true } },
    { name: 'open_wallet', fields: ['wallet'], unique: true, where: { field: 'open', equals: true } },
    { name: 'blocked', fields: ['next_attempt_at'], where: { field: 'blocked', equals: true } },
    { name: 'source', fields: ['source', 'created_at'], order: 'desc' },
    { name: 'wallet', fields: ['wallet', 'created_at'], order: 'desc' },
    { name: 'blocked_wallet', fields: ['wallet'], where: { field: 'blocked', equals: true } },
    { name: 'status', fields: ['status', 'created_at'], order: 'desc' },
    { name: 'newest', fields: ['created_at'], order: 'desc' },
  ],
})

export const events = defineCollection('events', {
  schema: EventRow,
  key: 'key',
  indexes: [
    { name: 'seq', fields: ['seq'] },
    { name: 'own', fields: ['participant_id', 'seq'] },
  ],
})

export const deliveries = defineCollection('deliveries', {
  schema: DeliveryRow,
  key: 'id',
  indexes: [
    { name: 'due', fields: ['next_at'], where: { field: 'open', equals: true } },
    {
      name: 'lane',
      fields: ['participant_id', 'url', 'word', 'next_at', 'number'],
      where: { field: 'open', equals: true },
    },
    { name: 'sender', fields: ['participant_id', 'sender'], where: { field: 'open', equals: true } },
    {
      name: 'tried',
      fields: ['service_id', 'attempted_at'],
      order: 'desc',
      where: { field: 'attempted', equals: true },
    },
    { name: 'ended', fields: ['at'], where: { field: 'open', equals: false } },
    { name: 'unpaid', fields: ['participant_id', 'number'], where: { field: 'unpaid', equals: true } },
    { name: 'newest', fields: ['number'], order: 'desc' },
    { name: 'state', fields: ['state', 'number'], order: 'desc' },
    { name: 'own', fields: ['participant_id', 'number'], order: 'desc' },
    { name: 'own_state', fields: ['participant_id', 'state', 'number'], order: 'desc' },
  ],
})

export const postings = defineCollection('postings', {
  schema: PostingRow,
  key: 'id',
  indexes: [
    { name: 'number', fields: ['number'], unique: true },
    { name: 'due', fields: ['expires_at'], where: { field: 'open', equals: true } },
    { name: 'poster', fields: ['poster_id', 'number'], order: 'desc' },
    { name: 'poster_open', fields: ['poster_id'], where: { field: 'open', equals: true } },
  ],
})

export const bids = defineCollection('bids', {
  schema: BidRow,
  key: 'id',
  indexes: [
    { name: 'posting', fields: ['posting_id', 'created_at'] },
    { name: 'bidder', fields: ['posting_id', 'provider_id'] },
    { name: 'own', fields: ['provider_id', 'created_at'], order: 'desc' },
    { name: 'live', fields: ['posting_id', 'provider_id'], unique: true, where: { field: 'live', equals: true } },
    { name: 'service_live', fields: ['service_id'], where: { field: 'live', equals: true } },
  ],
})

export const optIns = defineCollection('posting_opt_ins', {
  schema: OptInRow,
  key: 'id',
  indexes: [{ name: 'enabled', fields: ['id'], where: { field: 'enabled', equals: true } }],
})

export const fanouts = defineCollection('posting_fanouts', {
  schema: FanoutRow,
  key: 'id',
  indexes: [{ name: 'at', fields: ['at'] }],
})

export const notices = defineCollection('posting_notices', {
  schema: NoticeRow,
  key: 'id',
  indexes: [
    { name: 'due', fields: ['next_at'], where: { field: 'waiting', equals: true } },
    { name: 'delivery', fields: ['delivery_id'], unique: true },
  ],
})

export const uncountedJobs = defineCollection('uncounted_jobs', {
  schema: UncountedJobRow,
  key: 'id',
  indexes: [{ name: 'due', fields: ['at'] }],
})

export const countedJobs = defineCollection('counted_jobs', {
  schema: CountedJobRow,
  key: 'id',
  indexes: [{ name: 'entries', fields: ['provider_id', 'part', 'number'] }],
})

export const standings = defineCollection('standings', { schema: StandingRow, key: 'id', indexes: [] })

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

export const counters = defineCollection('counters', { schema: CounterRow, key: 'id', indexes: [] })
export const settings = defineCollection('settings', { schema: SettingRow, key: 'id', indexes: [] })
export const crons = defineCollection('crons', { schema: CronRow, key: 'id', indexes: [] })

export const traces = defineCollection('traces', {
  schema: TraceRow,
  key: 'id',
  indexes: [
    { name: 'event', fields: ['signer', 'event_id'], unique: true },
    { name: 'signer', fields: ['signer', 'at'] },
    { name: 'token', fields: ['token_hash'], unique: true },
    { name: 'at', fields: ['at'] },
  ],
})

export const tallies = defineCollection('tallies', { schema: TallyRow, key: 'id', indexes: [] })

export const adminActs = defineCollection('admin_acts', {
  schema: AdminActRow,
  key: 'id',
  indexes: [{ name: 'seq', fields: ['seq'], order: 'desc' }],
})

/** Every collection of the marketplace; engines open exactly these. */
export const collections = [
  participants,
  identityLinks,
  services,
  jobs,
  deliverables,
  threads,
  jobParties,
  threadParties,
  plans,
  subscriptions,
  coverage,
  unservedPeriods,
  subscriptionParties,
  messages,
  threadFiles,
  payments,
  answers,
  idempotency,
  ledger,
  accounts,
  history,
  earnings,
  payouts,
  sanctions,
  adminAnswers,
  events,
  deliveries,
  postings,
  bids,
  optIns,
  fanouts,
  notices,
  uncountedJobs,
  countedJobs,
  standings,
  evidence,
  documents,
  publications,
  counters,
  settings,
  crons,
  tallies,
  traces,
  watchDays,
  watchCallers,
  attempts,
  adminActs,
  products,
  purchases,
] as readonly AnyCollection[]
