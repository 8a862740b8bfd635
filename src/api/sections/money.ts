import { z } from 'zod'
import { Address, Amount, idOf, namedObject, Time } from '../../core/codecs.ts'
import { MAX_TEXT_CHARS } from '../../core/limits.ts'
import { jobStatuses } from '../../model/job.ts'
import { accountKinds, heldKinds } from '../../model/ledger.ts'
import { payoutKinds, payoutStates } from '../../model/words.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { adminEndpoint, json, jsonBody, namedJson } from '../endpoint/define.ts'
import { holdFields, payoutFields } from '../endpoint/list-fields.ts'
import { holdOrders } from '../endpoint/list-orders.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'
import { EventAbout } from './admin.ts'

const Reference = z.strictObject({ kind: z.string(), id: z.string() })

/** Held money with owner and next event (decisions §5). */
export const Hold = namedObject('Hold', {
  account: z.string(),
  kind: z.enum(accountKinds),
  amount: Amount,
  owner: Reference.nullable(),
  reason: z.string(),
  next_event: z.string().nullable(),
  next_event_at: Time.nullable(),
  job: z
    .strictObject({ status: z.enum(jobStatuses), late: z.boolean(), about: EventAbout })
    .optional()
    .meta({ description: 'job that the money is held for, if any' }),
})

export const Payout = namedObject('Payout', {
  id: idOf('payout'),
  payout_id: idOf('payout'),
  kind: z.enum(payoutKinds),
  wallet: Address,
  amount: Amount,
  status: z.enum(payoutStates),
  blocked: z.boolean(),
  reference: Reference,
  attempts: z.int(),
  last_error: z.string().nullable(),
  next_attempt_at: Time.nullable(),
  transaction: z.string().nullable(),
  created_at: Time,
  updated_at: Time,
})

export const auditApi = {
  getHolds: adminEndpoint({
    path: '/dashboard/api/admin/holds',
    query: z.strictObject({ ...pageQuery, ...listQuery(holdFields, holdOrders), kind: z.enum(heldKinds).optional() }),
    reply: json({ holds: z.array(Hold), ...paged, ...searched }),
    summary: 'every held amount with owner, reason, next event',
  }),

  getAudit: adminEndpoint({
    path: '/dashboard/api/admin/audit',
    reply: namedJson('AuditReport', {
      ok: z.boolean(),
      as_of: z.strictObject({ seq: z.int().meta({ description: 'last transaction of the books' }), at: Time }),
      transactions: z.int(),
      accounts: z.int(),
      checks: z.array(z.strictObject({ name: z.string(), ok: z.boolean(), detail: z.string() })),
    }),
    errors: ['unavailable'],
    summary: 'recompute the books and compare',
  }),

  getPayouts: adminEndpoint({
    path: '/dashboard/api/admin/payouts',
    query: z.strictObject({ ...pageQuery, ...listQuery(payoutFields), status: z.enum(payoutStates).optional() }),
    reply: json({ payouts: z.array(Payout), ...paged, ...searched }),
    summary: 'payouts and their state',
  }),

  adjustBalance: adminEndpoint({
    path: '/dashboard/api/admin/participants/:id/adjust',
    body: jsonBody({
      amount: Amount.meta({ description: 'signed: negative takes from the balance' }),
      reason: z.string().trim().min(1).max(MAX_TEXT_CHARS),
      settles: z
        .string()
        .max(MAX_TEXT_CHARS)
        .optional()
        .meta({ description: 'id of the unserved period or kept payment to settle, from `attention`' }),
    }),
    reply: json({
      participant_id: idOf('participant'),
      adjusted: Amount,
      balance: Amount,
      transaction_id: idOf('transaction'),
    }),
    errors: ['not_found', 'conflict', 'idempotency_mismatch'],
    summary: 'balance adjustment with a reason',
  }),
}
