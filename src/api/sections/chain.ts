import { z } from 'zod'
import { Address, Amount, namedObject, Time } from '../../core/codecs.ts'
import { chainTxStates, gasActs, keyRoles, keyStates, saleCostKinds } from '../../model/payment.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { adminEndpoint, json, jsonBody } from '../endpoint/define.ts'

/** Maximum length of a transaction id, which consists of signer and nonce. */
const MAX_TX_CHARS = 80
const MAX_PATH_CHARS = 4_096
const MAX_REASON_CHARS = 500
const MAX_GWEI_NOTE = 'highest gas price, in gwei'

export const ChainTx = namedObject('ChainTransaction', {
  id: z.string().meta({ description: 'the transaction’s signer and nonce' }),
  nonce: z.int(),
  what: z.enum(['payments', 'call']),
  call: z.string().nullable().meta({ description: 'id of the order, if the transaction is a call' }),
  to: Address,
  state: z.enum(chainTxStates),
  transfers: z.int().meta({ description: 'number of payments, payouts and refunds in the transaction' }),
  amount: Amount.meta({ description: 'their total amount' }),
  hashes: z.array(z.string()).meta({ description: 'hashes of all transactions sent with this nonce, latest last' }),
  max_fee: z.string().meta({ description: MAX_GWEI_NOTE }),
  sent_at: Time.meta({ description: 'wall time, like all times here' }),
  block: z.int().nullable(),
  mined: z.string().nullable().meta({ description: 'hash of the transaction in the block' }),
  ok: z.boolean().nullable().meta({ description: 'false: reverted; null: not in a block yet' }),
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
    .meta({ description: 'the transaction’s transfers, if one transaction was requested' }),
})

export const RotatedKey = namedObject('OperatorKey', {
  address: Address,
  role: z.enum(keyRoles),
  state: z.enum(keyStates),
  since: Time.nullable().meta({ description: 'wall time of the last change of state; null for a first key' }),
  leaked: z.boolean(),
  holds: Amount.meta({ description: 'USDC at the address' }),
  owes: Amount.meta({ description: 'payouts and escrow deposits that this key has signed and that are not paid yet' }),
  escrow: Amount.meta({ description: 'money of jobs in the escrow contract that pays to this address' }),
  swept: Amount.meta({ description: 'amount moved to the address that replaced it' }),
  next: z.string().nullable().meta({ description: 'what happens next; null when nothing is left to do' }),
  next_at: Time.nullable().meta({ description: 'when it happens, if that depends on time' }),
})

export const ChainHealth = z.enum(['ok', 'degraded', 'down'])

export const chainApi = {
  getChain: adminEndpoint({
    path: '/dashboard/api/admin/chain',
    query: z.strictObject({
      ...pageQuery,
      state: z.enum(['open', 'all']).optional().meta({ description: 'open: not final (default)' }),
      tx: z
        .string()
        .min(1)
        .max(MAX_TX_CHARS)
        .optional()
        .meta({ description: 'only this transaction, by id, nonce or hash' }),
    }),
    reply: json({
      mode: z.string(),
      network: z.string(),
      caip2: z.string(),
      health: ChainHealth,
      faults: z.array(z.strictObject({ code: z.string(), sentence: z.string() })),
      head: z
        .strictObject({ block: z.int(), age_seconds: z.int() })
        .nullable()
        .meta({ description: 'the newest block; in the sandbox the last transaction of its ledger' }),
      lag_blocks: z.int().meta({ description: 'blocks by which the preferred node lags' }),
      nodes: z.array(
        z.strictObject({
          node: z.string().meta({ description: 'host and port only, because a full address may contain a key' }),
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
          payments: z.int().meta({ description: 'approximate number of payments the key has gas for' }),
        })
        .nullable(),
      queue: z.strictObject({
        waiting: z.int(),
        in_flight: z.int(),
        oldest_seconds: z.int().nullable(),
        held: z.enum(['gas', 'fee', 'signer']).nullable(),
        token_paused: z.boolean(),
        resent: z.int(),
        replaced: z.int(),
        reorged: z.int(),
        reversed: z.int().meta({ description: 'settled payments reverted by the chain: each is a loss' }),
        failed: z.int(),
        foreign_nonces: z.int(),
        last_error: z.string().nullable(),
      }),
      books: z
        .strictObject({ ok: z.boolean(), detail: z.string() })
        .nullable()
        .meta({ description: 'last comparison of ledger and chain; null while the chain does not respond' }),
      transactions: z.array(ChainTx).meta({ description: 'open: oldest first; all: newest first' }),
      ...paged,
    }),
    errors: ['not_found'],
    summary: 'chain head, queue, keys, drift',
  }),

  rotateOperatorKey: adminEndpoint({
    path: '/dashboard/api/admin/keys/rotate',
    body: jsonBody({
      role: z.enum(keyRoles),
      replaces: Address.optional().meta({
        description: 'the key to replace (default: the current one, if none was replaced before)',
      }),
      key_file: z
        .string()
        .min(1)
        .max(MAX_PATH_CHARS)
        .optional()
        .meta({ description: 'absolute path of the new key on the machine of the daemon; a devnet makes its own' }),
      address: Address.optional().meta({
        description: 'address of the new key, which the signer has instead of a file',
      }),
      leaked: z.boolean().optional().meta({ description: 'others have the key: pause, and move its money first' }),
      reason: z.string().min(1).max(MAX_REASON_CHARS).optional(),
    }),
    reply: json({
      keys: z.array(RotatedKey).meta({ description: 'keys of this role in use, newest first' }),
      paused: z.boolean(),
      todo: z.array(z.string()).meta({ description: 'what is left to the operator' }),
    }),
    errors: ['conflict', 'unavailable'],
    summary: 'replace a key of the operator while the marketplace runs',
  }),

  getChainCosts: adminEndpoint({
    path: '/dashboard/api/admin/chain/costs',
    reply: json({
      from: Time.meta({
        description: 'start of the time that the report covers: 30 days, or less with many transactions',
      }),
      eth_price: Amount.nullable().meta({ description: 'set by --eth-price; without it, gas has no value in USDC' }),
      acts: z.array(
        z.strictObject({
          act: z.enum(gasActs),
          count: z.int().meta({ description: 'number measured; 0: wei follows from the gas price of the node' }),
          wei: z.string().nullable().meta({ description: 'average gas fee of one act' }),
          cost: Amount.nullable(),
        }),
      ),
      sales: z.array(
        z.strictObject({
          kind: z.enum(saleCostKinds),
          acts: z.array(z.enum(gasActs)).meta({ description: 'acts of one sale at most' }),
          cost: Amount.nullable(),
          break_even: Amount.nullable().meta({ description: 'least price whose fee pays the gas' }),
        }),
      ),
      gas_wei: z.string(),
      gas: Amount.nullable().meta({ description: 'value of all gas' }),
      fees: Amount.meta({ description: 'fees earned in the same time' }),
      below: z
        .array(z.strictObject({ service_id: z.string(), name: z.string(), price: Amount, break_even: Amount }))
        .meta({ description: 'active listings below their break-even price' }),
    }),
    summary: 'gas per act, and the price at which a sale pays for its gas',
  }),
}
