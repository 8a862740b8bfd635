import type { Cron } from '../crons/cron.ts'
import { escrowMonitor } from '../features/jobs/escrow-monitor.ts'
import { housekeeping } from '../features/operator/housekeeping.ts'
import { autoRefund } from '../features/payments/auto-refund.ts'
import { providerSettlement } from '../features/payouts/provider-settlement.ts'
import { splitterDistribute } from '../features/payouts/splitter-distribute.ts'
import { postingNotifyRetries } from '../features/postings/posting-notify-retries.ts'
import { referralRewards } from '../features/referrals/referral-rewards.ts'
import { reputation } from '../features/reputation/reputation.ts'
import { ofacSdnRefresh } from '../features/sanctions/ofac-sdn-refresh.ts'
import { statsSnapshot } from '../features/stats/stats-snapshot.ts'
import { subscriptions } from '../features/subscriptions/subscriptions.ts'
import { webhookProbes } from '../features/webhooks/webhook-probes.ts'

/** Every cron of the marketplace; those that are due at the same moment begin in this order. */
export const allCrons: readonly Cron[] = [
  escrowMonitor,
  autoRefund,
  postingNotifyRetries,
  subscriptions,
  reputation,
  referralRewards,
  providerSettlement,
  splitterDistribute,
  ofacSdnRefresh,
  housekeeping,
  statsSnapshot,
  webhookProbes,
]
