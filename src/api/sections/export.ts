import { z } from 'zod'
import { Amount, idOf, TaxDetails, Time } from '../../core/codecs.ts'
import { keysOf } from '../../core/record.ts'
import { paymentStates } from '../../model/payment.ts'
import { TraceEvent } from '../../model/trace.ts'
import { earningRoles } from '../../model/words.ts'
import { accountEndpoint, stream } from '../endpoint/define.ts'
import { Balance, BalanceEntry } from './balance.ts'
import { Movement, periodQuery } from './books.ts'
import { OwnEvent } from './events.ts'
import { Job } from './jobs.ts'
import { Payout } from './money.ts'
import { LinkedIdentity, OwnParticipant } from './participants.ts'
import { Plan, Subscription } from './plans.ts'
import { Bid, Posting, PostingNotifications } from './postings.ts'
import { Product, Purchase } from './products.ts'
import { Referral } from './referrals.ts'
import { OwnListing } from './services.ts'
import { Attachment } from './thread-files.ts'
import { Message, Thread } from './threads.ts'
import { Attempt } from './verification.ts'
import { Delivery } from './webhooks.ts'

const Reference = z.strictObject({ kind: z.string(), id: z.string() })

/** Earnings of the participant, from a sale or a referral. */
const Earning = z.strictObject({
  id: idOf('transaction'),
  role: z.enum(earningRoles),
  amount: Amount,
  referred_id: idOf('participant').nullable(),
  reference: Reference,
  created_at: Time,
})

/** A paid call of the participant, without the payment's signature. */
export const OwnPayment = z.strictObject({
  receipt_id: idOf('receipt'),
  method: z.enum(['x402', 'balance', 'subscription']),
  status: z.enum(paymentStates),
  amount: Amount,
  endpoint: z.string(),
  transaction: z.string().nullable(),
  created_at: Time,
  updated_at: Time,
})

/** Schemas of export lines, the same as in the API. */
export const exportRecords = {
  participant: OwnParticipant,
  identity: LinkedIdentity,
  service: OwnListing,
  job: Job,
  thread: Thread,
  message: Message,
  file: Attachment,
  plan: Plan,
  subscription: Subscription,
  product: Product,
  purchase: Purchase,
  posting: Posting,
  received_bid: Bid,
  bid: Bid,
  posting_notifications: PostingNotifications,
  balance: Balance,
  balance_entry: BalanceEntry,
  payment: OwnPayment,
  earning: Earning,
  movement: Movement,
  payout: Payout.omit({ last_error: true }),
  referral: Referral,
  delivery: Delivery,
  verification: Attempt,
  trace: z.strictObject({ trace_id: idOf('trace'), event: TraceEvent, created_at: Time }),
  event: OwnEvent,
} as const satisfies Record<string, z.ZodType>

export type ExportKind = keyof typeof exportRecords

export const exportKinds = keysOf(exportRecords)

/** First line, `export`: business time and owner; null: the operator. */
export const ExportStart = z.strictObject({
  as_of: Time,
  participant_id: idOf('participant').nullable(),
  tax: TaxDetails.optional(),
})
/** Last line, `end`; without it the file is incomplete. */
export const ExportEnd = z.strictObject({ records: z.int(), counts: z.record(z.string(), z.int()) })

function isKinds(text: string): boolean {
  return text.split(',').every((kind) => Object.hasOwn(exportRecords, kind))
}

export const exportApi = {
  /**
   * Lines `{"kind": …, "record": …}`. A record that changes during the export may appear twice, newest last; new
   * records may be missing.
   */
  getExport: accountEndpoint({
    path: '/v1/export',
    query: z.strictObject({
      only: z
        .string()
        .refine(isKinds, `must be some of ${exportKinds.join(',')}`)
        .optional()
        .meta({ description: 'only these kinds, comma-separated', examples: ['job,message'] }),
      ...periodQuery,
    }),
    reply: stream('application/x-ndjson'),
    summary: 'all own records as NDJSON; works while paused',
  }),
}
