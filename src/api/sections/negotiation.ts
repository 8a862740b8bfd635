import { z } from 'zod'
import { Amount, idOf, Time } from '../../core/codecs.ts'
import { MAX_BRIEF_CHARS, MAX_NAME_CHARS, MAX_TEXT_CHARS } from '../../core/limits.ts'
import { usdc } from '../../core/money.ts'
import { JsonObject } from '../../model/service.ts'
import { endpointsWith, json, jsonBody, key, paid } from '../endpoint/define.ts'
import { ThreadWithJob } from './jobs.ts'
import { PriceInput } from './services.ts'
import { Thread } from './threads.ts'

export const INQUIRE_PRICE = usdc(1_000n)
const section = 'Threads (negotiation and delivery)'
const endpoint = endpointsWith({ feature: 'negotiation', section })

const Brief = z
  .union([z.string().regex(/\S/, 'must not be empty'), JsonObject], 'must be text or a JSON object')
  .refine((brief) => JSON.stringify(brief).length <= MAX_BRIEF_CHARS, `must be at most ${MAX_BRIEF_CHARS} characters`)
  .meta({ description: 'the request, as text or as fields of the listing’s input_schema' })

/** Result of an acceptance: conversation, job and ticket. */
const Accepted = ThreadWithJob.extend({ status_url: z.string(), amount: Amount, receipt_id: idOf('receipt') }).meta({
  id: 'AcceptedThread',
})

export const inquiryApi = {
  inquire: endpoint({
    path: '/v1/services/:id/inquire',
    access: paid(INQUIRE_PRICE),
    section: 'Discovery and listings',
    body: jsonBody({ brief: Brief }),
    reply: json(Thread),
    errors: ['not_found', 'registration_required'],
    summary: 'open a conversation thread about a service',
  }),
}

export const negotiationApi = {
  proposePrice: endpoint({
    path: '/v1/threads/:id/propose',
    access: key('provider'),
    body: jsonBody({
      price: PriceInput,
      message: z.string().max(MAX_TEXT_CHARS).optional(),
      estimated_delivery: z.string().min(1).max(MAX_NAME_CHARS).optional(),
    }),
    reply: json(Thread),
    errors: ['not_found', 'invalid_transition', 'conflict'],
    summary: 'propose a price',
  }),

  acceptPrice: endpoint({
    path: '/v1/threads/:id/accept',
    access: paid('varies'),
    replacement: 'POST /v1/services/{id}/purchase',
    body: jsonBody({
      proposed_at: Time.optional().meta({
        description: 'accept only this proposal of the thread (default: the open one)',
      }),
    }),
    reply: json(Accepted),
    errors: ['not_found', 'registration_required', 'invalid_transition'],
    summary: 'accept the proposed price and pay',
  }),
}
