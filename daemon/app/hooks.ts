import { escrowMoved } from '../features/jobs/apply.ts'
import { reviewKept } from '../features/payouts/payouts.ts'
import { followJob } from '../features/postings/close.ts'
import { walletCleared } from '../features/sanctions/sanctions.ts'

/* Who follows what a lower feature announces. */
escrowMoved.follow(followJob)
walletCleared.follow(reviewKept)
