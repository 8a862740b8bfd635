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

/** Source of each record kind. A record has the form in which the API shows it to its owner. */
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
  coverage: 'services that a subscription covers; each subscription lists its own',
  answers: 'copies of responses kept for a day for safe retries',
  idempotency: 'hashes of idempotency keys, kept for a day',
  ledger: 'both sides of every ledger entry; yours are in balance entries, earnings and payments',
  accounts: 'ledger totals; yours are in the balance',
  sanctions: 'list of third parties; public under /health',
  admin_answers: 'copies of responses per Idempotency-Key, kept for a day',
  posting_fanouts: 'progress of notifications about a request; removed when done',
  posting_notices: 'notifications in progress; each attempt is exported as a delivery',
  escrow_deals: 'state of jobs in the escrow contract; the job shows how it ended',
  uncounted_jobs: 'jobs waiting to be counted',
  counted_jobs: 'effect of each job on reputation; everyone can read it in the evidence',
  standings: 'reputation totals of counted jobs; everyone can read them in the listings',
  evidence: 'progress of reputation evidence; the documents themselves are public',
  documents: 'public evidence and feedback',
  publications: 'evidence to be written to the public chain',
  counters: 'settings of the installation',
  settings: 'settings of the installation',
  unserved_periods: 'open decisions of the operator; subscribers are notified by subscription.unserved',
  crons: 'settings of the installation',
  tallies: 'settings of the installation',
  grant_days: 'daily counts, kept for two days',
  gas_days: 'daily counts, kept for two days',
  facilitator_settlements: 'settlements by API key, each a transfer on the chain; removed a month after they expire',
  facilitator_days: 'daily counts, kept for two days',
  facilitated_resources: 'public list of resources declared by other servers',
  polls: "last time the participant's events were read; its listings show the effect",
  admin_acts: 'data of the administrator',
  watch_days: 'daily counts of the installation',
  watch_callers: 'anonymous hashes with a daily salt that is deleted at the end of the day',
}
