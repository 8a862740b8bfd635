import type { z } from 'zod'
import { type ExportKind, type exportRecords, OwnPayment } from '../../../src/api/sections/export.ts'
import { pick } from '../../../src/core/record.ts'
import { TraceEvent } from '../../../src/model/trace.ts'
import { ownEventView } from '../../events/own.ts'
import * as eventsRows from '../../events/rows.ts'
import * as kernelRows from '../../kernel/rows.ts'
import { ownListingView } from '../catalog/listing-routes.ts'
import * as jobsRows from '../jobs/rows.ts'
import { jobView, placeOf } from '../jobs/view.ts'
import * as ledgerRows from '../ledger/rows.ts'
import { earnings } from '../ledger/rows.ts'
import * as listingsRows from '../listings/rows.ts'
import { linkedIdentity, ownParticipantView } from '../participants/profile-routes.ts'
import { balanceView, entryView } from '../payments/balance.ts'
import * as paymentsRows from '../payments/rows.ts'
import * as payoutsRows from '../payouts/rows.ts'
import { payoutView } from '../payouts/rows.ts'
import { serviceOf } from '../postings/bid.ts'
import { bidView, optInView, postingView } from '../postings/bid-routes.ts'
import * as postingsRows from '../postings/rows.ts'
import { postingById } from '../postings/rows.ts'
import { products, purchases } from '../products/rows.ts'
import { productView, purchaseView } from '../products/sale-routes.ts'
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
import { deliveryView } from '../webhooks/routes.ts'
import * as webhooksRows from '../webhooks/rows.ts'
import { movements } from './movements.ts'
import { type Around, filled, listed, type Source, sided, single, under, withMore } from './walk.ts'

type Who = Around['who']

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
export const exportSources: { readonly [K in ExportKind]: Source<z.output<(typeof exportRecords)[K]>> } = {
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
    ...pick(row, OwnPayment.shape),
    status: row.state,
    amount: row.price,
  })),
  earning: listed({ collection: earnings, index: 'own', prefix: ownId }, (row) => ({
    id: row.transaction_id,
    role: row.role,
    amount: row.amount,
    referred_id: row.referred_id,
    reference: { kind: row.ref_kind, id: row.ref_id },
    created_at: row.at,
  })),
  movement: movements,
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
