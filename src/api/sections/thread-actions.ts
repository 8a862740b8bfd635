import { z } from 'zod'
import { MAX_TEXT_CHARS } from '../../core/limits.ts'
import { usdc } from '../../core/money.ts'
import { endpointsWith, json, jsonBody, key, keyOrPaid, paid } from '../endpoint/define.ts'
import { DisputeBody, ThreadWithJob, updateBody, VerifyBody } from './jobs.ts'

const endpoint = endpointsWith({ section: 'Threads (negotiation and delivery)' })
export const THREAD_VERIFY_PRICE = usdc(1_000n)
export const THREAD_DISPUTE_PRICE = usdc(1_000n)

const answer = json(ThreadWithJob)

export const threadActionsApi = {
  declineThread: endpoint({
    path: '/v1/threads/:id/decline',
    feature: 'negotiation',
    body: jsonBody({ reason: z.string().max(MAX_TEXT_CHARS).optional() }),
    reply: answer,
    errors: ['not_found', 'invalid_transition', 'conflict'],
    summary: 'decline or cancel',
  }),

  updateThread: endpoint({
    path: '/v1/threads/:id/update',
    access: key('provider'),
    body: updateBody,
    reply: answer,
    errors: ['not_found', 'input_invalid', 'invalid_transition', 'conflict'],
    summary: 'update job status',
  }),

  verifyThread: endpoint({
    path: '/v1/threads/:id/verify',
    access: paid(THREAD_VERIFY_PRICE),
    whileSuspended: true,
    body: jsonBody(VerifyBody),
    reply: answer,
    errors: ['not_found', 'invalid_transition'],
    summary: 'record buyer verification of a delivery (an event; the purchase was prepaid)',
  }),

  disputeThread: endpoint({
    path: '/v1/threads/:id/dispute',
    access: keyOrPaid(THREAD_DISPUTE_PRICE),
    whileSuspended: true,
    body: jsonBody(DisputeBody),
    reply: answer,
    errors: ['not_found', 'invalid_transition'],
    summary:
      'dispute a delivery; an event, no escrow moves; identity payment 0.001 per the endpoint listing, 0.005 per the interface description',
  }),
}
