import type { z } from 'zod'
import type { ChainTx, chainApi } from '../../../src/api/sections/chain.ts'
import { AppError } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { gasActs, saleCostKinds } from '../../../src/model/payment.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import type { ChainPort, ChainStatus, ChainTransaction } from '../../ports/chain/chain.ts'
import { driftOf } from '../audit/drift.ts'
import { listingsBelow } from '../catalog/break-even.ts'
import { actsOf, gasValue, recentGas, saleCosts, weiOf } from '../payouts/gas-costs.ts'
import { rotateKey } from './key-rotation.ts'

const GWEI_DIGITS = 9

export const chainRoutes: FreeHandlers<typeof chainApi> = {
  getChain: async ({ query }, { ctx }) => {
    const { chain } = ctx
    const { limit = DEFAULT_PAGE, offset = 0, state = 'open', tx } = query
    const { rows, total } =
      tx === undefined
        ? await chain.transactions.page({ isOpen: state === 'open', limit, offset })
        : await oneOf(chain, tx)
    const drift = await driftOf(ctx)
    return {
      mode: chain.mode,
      network: chain.network,
      caip2: chain.caip2,
      pay_to: chain.payTo,
      asset: chain.asset.address,
      ...statusView(ctx, chain.status?.()),
      books: drift && { ok: drift.ok, detail: drift.detail },
      transactions: rows.map((row) => txView(row, tx !== undefined)),
      total,
      limit,
      offset,
    }
  },

  rotateOperatorKey: async ({ body }, call) => rotateKey(body, call),

  getChainCosts: async (_input, { ctx }) => {
    const report = await recentGas(ctx, COST_DAYS * DAY_MS)
    const costs = saleCosts(ctx, report)
    return {
      from: report.from,
      eth_price: ctx.config.ethPrice ?? null,
      acts: gasActs.map((act) => {
        const wei = weiOf(ctx, report, act)
        return { act, count: report.acts[act].count, wei: wei === null ? null : String(wei), cost: gasValue(ctx, wei) }
      }),
      sales: saleCostKinds.map((kind) => {
        const { cost, breakEven } = costs[kind]
        return { kind, acts: [...actsOf[kind]], cost, break_even: breakEven }
      }),
      gas_wei: String(report.wei),
      gas: gasValue(ctx, report.wei),
      fees: report.fees,
      below: await listingsBelow(ctx, costs),
    }
  },
}

async function oneOf({ transactions }: ChainPort, id: string) {
  const row = await transactions.find(id)
  if (row) return { rows: [row], total: 1 }
  throw new AppError(
    'not_found',
    'Unknown transaction: this marketplace did not send it, or removed the record long after it was final.',
  )
}

/** The chain's status. A sandbox ledger has no nodes and no queue, so its counts are 0. */
function statusView({ store }: Context, status: ChainStatus | undefined) {
  if (status === undefined) {
    const none = { waiting: 0, in_flight: 0, oldest_seconds: null, held: null, token_paused: false, last_error: null }
    const counts = { resent: 0, replaced: 0, reorged: 0, reversed: 0, failed: 0, foreign_nonces: 0 }
    const head = { block: store.stats().seq, age_seconds: 0 }
    return {
      health: 'ok' as const,
      faults: [],
      head,
      lag_blocks: 0,
      nodes: [],
      gas_key: null,
      queue: { ...none, ...counts },
    }
  }
  const { health, faults, head, lagBlocks, nodes, gas } = status
  return {
    health,
    faults: faults.map(({ code, sentence }) => ({ code, sentence })),
    head: head && { block: head.block, age_seconds: head.ageSeconds },
    lag_blocks: lagBlocks,
    nodes: [...nodes],
    gas_key: gas && { address: gas.address, wei: String(gas.wei), payments: gas.payments },
    queue: queueView(status),
  }
}

function queueView(status: ChainStatus) {
  const { waiting, inFlight, oldestSeconds, held, tokenPaused, resent, replaced, reorged, reversed, failed } = status
  return {
    waiting,
    in_flight: inFlight,
    oldest_seconds: oldestSeconds,
    held,
    token_paused: tokenPaused,
    ...{ resent, replaced, reorged, reversed, failed },
    foreign_nonces: status.foreignNonces,
    last_error: status.lastError,
  }
}

function txView(row: ChainTransaction, isAlone: boolean): z.output<typeof ChainTx> {
  const { id, nonce, to, state, call, transfers, hashes, included } = row
  return {
    ...{ id, nonce, to, state, call },
    what: call === null ? 'payments' : 'call',
    transfers: transfers.length,
    amount: usdc(transfers.reduce((sum, { value }) => sum + value, 0n)),
    hashes: [...hashes],
    max_fee: gweiText(row.maxFee),
    sent_at: row.sentAt,
    block: included?.block ?? null,
    mined: included?.hash ?? null,
    ok: included?.ok ?? null,
    included_at: included?.at ?? null,
    ...(isAlone ? { items: transfers.map(({ value, ...one }) => ({ ...one, amount: usdc(value) })) } : {}),
  }
}

function gweiText(wei: bigint): string {
  const digits = String(wei).padStart(GWEI_DIGITS + 1, '0')
  const rest = digits.slice(-GWEI_DIGITS).replace(/0+$/, '')
  return `${digits.slice(0, -GWEI_DIGITS)}${rest === '' ? '' : `.${rest}`}`
}

const COST_DAYS = 30
