import { z } from 'zod'
import { Address, Amount } from '../../core/codecs.ts'
import { chainTxStates } from '../../model/payment.ts'
import { pageQuery, Time } from '../endpoint/common.ts'
import { admin, defineEndpoint, json } from '../endpoint/define.ts'

/** Longest transaction name: signer and nonce. */
const MAX_TX_CHARS = 80
const MAX_GWEI_NOTE = 'gwei, what a unit of gas may cost at most'

export const ChainTx = z
  .strictObject({
    id: z.string().meta({ description: 'the signer and its nonce' }),
    nonce: z.int(),
    what: z.enum(['payments', 'call']),
    call: z.string().nullable().meta({ description: 'id of the order, where it is a call' }),
    to: Address,
    state: z.enum(chainTxStates),
    transfers: z.int().meta({ description: 'payments, payouts and refunds that it carries' }),
    amount: Amount.meta({ description: 'what they move together' }),
    hashes: z.array(z.string()).meta({ description: 'of all that was sent for its nonce, the latest last' }),
    max_fee: z.string().meta({ description: MAX_GWEI_NOTE }),
    sent_at: Time.meta({ description: 'wall time, as all of these' }),
    block: z.int().nullable(),
    mined: z.string().nullable().meta({ description: 'the hash that is in the block' }),
    ok: z.boolean().nullable().meta({ description: 'false: it reverted; null: in no block yet' }),
    included_at: Time.nullable(),
    items: z
      .array(
        z.strictObject({
          from: Address,
          to: Address,
          amount: Amount,
          nonce: z.string(),
          state: z.enum(['open', 'moved', 'undone', 'failed']),
        }),
      )
      .optional()
      .meta({ description: 'its transfers, where one transaction was asked for' }),
  })
  .meta({ id: 'ChainTransaction' })

export const ChainHealth = z.enum(['ok', 'degraded', 'down'])

export const chainApi = {
  getChain: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/chain',
    access: admin,
    origin: 'ours',
    section: 'Administration',
    query: z.strictObject({
      ...pageQuery,
      state: z.enum(['open', 'all']).optional().meta({ description: 'open: not final; that is the default' }),
      tx: z
        .string()
        .min(1)
        .max(MAX_TX_CHARS)
        .optional()
        .meta({ description: 'one transaction, by its id, its nonce or a hash' }),
    }),
    reply: json(
      z.strictObject({
        mode: z.string(),
        network: z.string(),
        caip2: z.string(),
        health: ChainHealth,
        faults: z.array(z.strictObject({ code: z.string(), sentence: z.string() })),
        head: z
          .strictObject({ block: z.int(), age_seconds: z.int() })
          .nullable()
          .meta({ description: 'the newest block; in the sandbox the last transaction of its ledger' }),
        lag_blocks: z.int().meta({ description: 'that the preferred node is behind' }),
        nodes: z.array(
          z.strictObject({
            node: z.string().meta({ description: 'host and port alone: an address may hold a key' }),
            head: z.int().nullable(),
            error: z.string().nullable(),
          }),
        ),
        pay_to: Address,
        asset: Address,
        gas_key: z
          .strictObject({
            address: Address,
            wei: z.string(),
            payments: z.int().meta({ description: 'that it is good for, about' }),
          })
          .nullable(),
        queue: z.strictObject({
          waiting: z.int(),
          in_flight: z.int(),
          oldest_seconds: z.int().nullable(),
          held: z.enum(['gas', 'fee']).nullable(),
          token_paused: z.boolean(),
          resent: z.int(),
          replaced: z.int(),
          reorged: z.int(),
          reversed: z.int().meta({ description: 'settled payments that the chain undid: each is a loss' }),
          failed: z.int(),
          foreign_nonces: z.int(),
          last_error: z.string().nullable(),
        }),
        books: z
          .strictObject({ ok: z.boolean(), detail: z.string() })
          .nullable()
          .meta({ description: 'the books beside the chain, as last compared; null while the chain does not answer' }),
        transactions: z
          .array(ChainTx)
          .meta({ description: 'open ones the oldest first, all of them the newest first' }),
        total: z.int(),
        limit: z.int(),
        offset: z.int(),
      }),
    ),
    errors: ['invalid_request', 'not_found'],
    summary: 'chain head, queue, keys, drift',
  }),
}
