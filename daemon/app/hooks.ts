import { eventsRead } from '../events/own.ts'
import { escrowMoved } from '../features/jobs/apply.ts'
import { reviewKept } from '../features/payouts/payouts.ts'
import { followJob } from '../features/postings/close.ts'
import { walletCleared } from '../features/sanctions/sanctions.ts'
import { notePoll } from '../features/webhooks/polling.ts'

/* Who follows what a lower feature announces. */
escrowMoved.follow(followJob)
walletCleared.follow(reviewKept)
eventsRead.follow(notePoll)
