import type { z } from 'zod'
import type { ExportKind, exportRecords } from '../../../src/api/sections/export.ts'
import { TraceEvent } from '../../../src/model/trace.ts'
import { ownEventView } from '../../events/own.ts'
import * as eventsRows from '../../events/rows.ts'
import * as kernelRows from '../../kernel/rows.ts'
import { ownListingView } from '../catalog/view.ts'
import * as jobsRows from '../jobs/rows.ts'
import { jobView, placeOf } from '../jobs/view.ts'
import * as ledgerRows from '../ledger/rows.ts'
import { earnings } from '../ledger/rows.ts'
import * as listingsRows from '../listings/rows.ts'
import { linkedIdentity } from '../participants/profile-view.ts'
import { ownParticipantView } from '../participants/view.ts'
import { balanceView, entryView } from '../payments/balance.ts'
import * as paymentsRows from '../payments/rows.ts'
import * as payoutsRows from '../payouts/rows.ts'
import { payoutView } from '../payouts/rows.ts'
import { serviceOf } from '../postings/bid.ts'
import * as postingsRows from '../postings/rows.ts'
import { postingById } from '../postings/rows.ts'
import { bidView, optInView, postingView } from '../postings/view.ts'
import { products, purchases } from '../products/rows.ts'
import { productView, purchaseView } from '../products/view.ts'
import { referralView } from '../referrals/referrals.ts'
import * as reputationRows from '../reputation/rows.ts'
import { planView, subscriptionView } from '../subscriptions/plan-view.ts'
import * as subscriptionsRows from '../subscriptions/rows.ts'
import { attachmentView } from '../threads/files.ts'
import { messageView, threadView } from '../threads/messages.ts'
import * as threadsRows from '../threads/rows.ts'
import { threadFiles } from '../threads/rows.ts'
import * as tracesRows from '../traces/rows.ts'
import { attemptView } from '../verification/attempts.ts'
import { attempts } from '../verification/rows.ts'
import * as webhooksRows from '../webhooks/rows.ts'
import { deliveryView } from '../webhooks/view.ts'
import { type Around, filled, listed, type Source, sided, single, under, withMore } from './walk.ts'

type Who = Around['who']
type Sources = { readonly [K in ExportKind]: Source<z.output<(typeof exportRecords)[K]>> }

const ownId = ({ id }: Who) => [id]
const ownWallet = ({ wallet }: Who) => [wallet]

const threads = sided({ parties: threadsRows.threadParties, subjects: threadsRows.threads }, (row, { now }) =>
  threadView(row, now),
)
const postings = listed({ collection: postingsRows.postings, index: 'poster', prefix: ownId }, (row, { now }) =>
  postingView(row, now),
)
const byId = ({ id }: { readonly id: string }) => id

async function anyBid(row: Parameters<typeof bidView>[0], { t, now }: Around) {
  return bidView(row, { posting: await postingById(t, row.posting_id), service: await serviceOf(t, row), now })
}

/** Source of each record kind. Records look like the API shows them to their owner. */
export const exportSources: Sources = {
  participant: single(kernelRows.participants, (row) => ownParticipantView(row, false)),
  identity: single(reputationRows.identityLinks, linkedIdentity),
  service: listed(
    { collection: listingsRows.services, index: 'provider', prefix: ownId },
    (row, { t, who, now, baseUrl }) => ownListingView(t, { service: row, provider: who, now, baseUrl }),
  ),
  job: withMore(
    filled(
      sided({ parties: jobsRows.jobParties, subjects: jobsRows.jobs }, (row) => row),
      (row, ctx) => jobView(placeOf(ctx), row),
    ),
    jobsRows.deliverables,
  ),
  thread: threads,
  message: under({ outer: threads, idOf: byId, collection: threadsRows.messages, index: 'thread' }, messageView),
  file: under({ outer: threads, idOf: byId, collection: threadFiles, index: 'thread' }, (row, { baseUrl }) =>
    attachmentView(row, baseUrl),
  ),
  plan: listed({ collection: subscriptionsRows.plans, index: 'provider', prefix: ownId }, (row, { t }) =>
    planView(t, row),
  ),
  subscription: sided(
    { parties: subscriptionsRows.subscriptionParties, subjects: subscriptionsRows.subscriptions },
    (row, { now }) => subscriptionView(row, now),
  ),
  product: listed({ collection: products, index: 'own', prefix: ownId }, (row, { who }) => productView(row, who)),
  purchase: listed({ collection: purchases, index: 'buyer', prefix: ownWallet }, (row, { baseUrl }) =>
    purchaseView(row, baseUrl),
  ),
  posting: postings,
  received_bid: under({ outer: postings, idOf: byId, collection: postingsRows.bids, index: 'posting' }, anyBid),
  bid: listed({ collection: postingsRows.bids, index: 'own', prefix: ownId }, anyBid),
  posting_notifications: single(postingsRows.optIns, (row) => optInView(row.id, row)),
  balance: single(kernelRows.participants, (row, { t }) => balanceView(t, row)),
  balance_entry: listed({ collection: ledgerRows.history, index: 'participant', prefix: ownId }, entryView),
  payment: listed({ collection: paymentsRows.payments, index: 'payer', prefix: ownWallet }, (row) => ({
    receipt_id: row.receipt_id,
    method: row.method,
    status: row.state,
    amount: row.price,
    endpoint: row.endpoint,
    transaction: row.transaction,
    created_at: row.created_at,
    updated_at: row.updated_at,
  })),
  earning: listed({ collection: earnings, index: 'own', prefix: ownId }, (row) => ({
    id: row.transaction_id,
    role: row.role,
    amount: row.amount,
    referred_id: row.referred_id,
    reference: { kind: row.ref_kind, id: row.ref_id },
    created_at: row.at,
  })),
  payout: listed({ collection: payoutsRows.payouts, index: 'wallet', prefix: ownWallet }, (row) => {
    const { last_error: _, ...shown } = payoutView(row)
    return shown
  }),
  referral: listed({ collection: kernelRows.participants, index: 'referrer', prefix: ownId }, (row, { t, who }) =>
    referralView(t, who.id, row),
  ),
  delivery: listed({ collection: webhooksRows.deliveries, index: 'own', prefix: ownId }, deliveryView),
  verification: listed({ collection: attempts, index: 'own', prefix: ownId }, (row, { now, wall }) =>
    attemptView(row, { now, wall }),
  ),
  trace: listed({ collection: tracesRows.traces, index: 'signer', prefix: ownWallet }, (row) => ({
    trace_id: row.id,
    event: TraceEvent.parse(row.event),
    created_at: row.at,
  })),
  event: filled(
    listed({ collection: eventsRows.events, index: 'own', prefix: ownId }, (row) => row),
    (row, ctx) => ownEventView(ctx, row),
  ),
}

/** Collections that no export reads, with the reason. */
export const notExported: Readonly<Record<string, string>> = {
  coverage: 'what a subscription covers, which the subscription names',
  answers: 'copies of answers, for a day, so that a retry is safe; what they told is a record of its own',
  idempotency: 'hashes of keys, for a day',
  ledger: 'both sides of every booking; the own side is in balance entries, earnings and payments',
  accounts: 'sums of the ledger; the own ones are in the balance',
  sanctions: 'a list about third parties, public under /health',
  admin_answers: 'copies of answers to who sent an Idempotency-Key with its own, for a day',
  posting_fanouts: 'how far the telling of a posting has come; gone when it has ended',
  posting_notices: 'notifications under way; each try is a delivery',
  escrow_deals: 'where the contract stands with the money of a job; the job says what became of it',
  uncounted_jobs: 'jobs that wait to be counted',
  counted_jobs: 'what a job adds to a reputation; public in the evidence',
  standings: 'sums of the counted jobs; public with the listings',
  evidence: 'where the evidence of a provider stands; its documents are public',
  documents: 'public evidence and feedback',
  publications: 'what is written to the public chain',
  counters: 'of the installation',
  settings: 'of the installation',
  unserved_periods: 'what the operator is asked to decide; the subscriber hears of each by subscription.unserved',
  crons: 'of the installation',
  tallies: 'of the installation',
  grant_days: 'counts of a day, kept for two',
  gas_days: 'counts of a day, kept for two',
  facilitator_settlements: 'what servers settled by a key, each a transfer on the chain; gone a month after its window',
  facilitator_days: 'counts of a day, kept for two',
  facilitated_resources: 'a public list of addresses declared by other servers',
  polls: 'when it last read its events: its listings show what follows',
  admin_acts: 'of the administrator',
  watch_days: 'counts of a day, of the installation',
  watch_callers: 'hashes under a salt of that day, gone when it is closed; nobody can be found in them',
}
