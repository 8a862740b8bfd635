import { autoRefund } from './auto-refund.ts'
import type { Cron } from './cron.ts'
import { escrowMonitor } from './escrow-monitor.ts'
import { housekeeping } from './housekeeping.ts'
import { ofacSdnRefresh } from './ofac-sdn-refresh.ts'
import { postingNotifyRetries } from './posting-notify-retries.ts'
import { providerSettlement } from './provider-settlement.ts'
import { referralRewards } from './referral-rewards.ts'
import { reputation } from './reputation.ts'
import { splitterDistribute } from './splitter-distribute.ts'
import { statsSnapshot } from './stats-snapshot.ts'
import { subscriptions } from './subscriptions.ts'

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
]
