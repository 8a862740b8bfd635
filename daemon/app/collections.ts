import { crons } from '../crons/rows.ts'
import { adminAnswers } from '../endpoint/rows.ts'
import { adminActs, events } from '../events/rows.ts'
import { deliverables, jobParties, jobs, uncountedJobs } from '../features/jobs/rows.ts'
import { accounts, earnings, history, ledger } from '../features/ledger/rows.ts'
import { polls, services } from '../features/listings/rows.ts'
import { answers, idempotency, payments } from '../features/payments/rows.ts'
import { payouts } from '../features/payouts/rows.ts'
import { bids, fanouts, notices, optIns, postings } from '../features/postings/rows.ts'
import { products, purchases } from '../features/products/rows.ts'
import {
  countedJobs,
  documents,
  evidence,
  identityLinks,
  publications,
  standings,
} from '../features/reputation/rows.ts'
import { sanctions } from '../features/sanctions/rows.ts'
import { watchCallers, watchDays } from '../features/stats/rows.ts'
import { coverage, plans, subscriptionParties, subscriptions, unservedPeriods } from '../features/subscriptions/rows.ts'
import { grantDays } from '../features/test-money/rows.ts'
import { messages, threadFiles, threadParties, threads } from '../features/threads/rows.ts'
import { traces } from '../features/traces/rows.ts'
import { attempts } from '../features/verification/rows.ts'
import { deliveries } from '../features/webhooks/rows.ts'
import { counters, participants, settings, tallies } from '../kernel/rows.ts'
import type { AnyCollection } from '../store/port.ts'
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
  grantDays,
  watchCallers,
  attempts,
  adminActs,
  products,
  purchases,
  polls,
] as readonly AnyCollection[]
