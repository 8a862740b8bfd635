import { z } from 'zod'
import { Micro, StoredWallet } from '../../../../src/core/codecs.ts'
import type { Wallet } from '../../../../src/core/hex.ts'
import { type Usdc, usdc, ZERO } from '../../../../src/core/money.ts'
import { DAY_MS } from '../../../../src/core/time.ts'
import { defineCollection, type Store, type Tx } from '../../../store/port.ts'
import { FAUCET_DAILY_LIMIT, type FaucetResult } from '../chain.ts'
import type { TxQueue } from './queue/queue.ts'
import { encodeCall } from './rpc/abi.ts'
import { RpcUnavailableError } from './rpc/values.ts'
import { mint } from './token.ts'

const ChainGrantRow = z.strictObject({
  wallet: StoredWallet,
  version: z.int(),
  /** UTC day of the latest grant; `granted` is the total of that day. */
  day: z.int(),
  granted: Micro,
  /** Number of grants so far; part of the order id of each grant. */
  grants: z.int(),
})

export const chainGrants = defineCollection('chain_grants', {
  schema: ChainGrantRow,
  key: 'wallet',
  addresses: ['wallet'],
  indexes: [],
})

type Request = { readonly wallet: Wallet; readonly amount: Usdc; readonly nowMs: number }
type Parts = { readonly store: Store; readonly queue: Pick<TxQueue, 'call'>; readonly asset: Wallet }

/** Grants test money within the sandbox's daily limit. Counts a grant before sending it. */
export function openFaucet({ store, queue, asset }: Parts): (request: Request) => Promise<FaucetResult> {
  return async (request) => {
    const { wallet, amount } = request
    if (amount <= 0n) throw new RangeError('the faucet amount must be positive')
    const counted = await store.tx((t) => count(t, request))
    if (!counted.ok) return counted
    const outcome = await queue.call({ id: counted.id, to: asset, data: encodeCall(mint, [wallet, amount]) })
    if (outcome.ok) {
      const { remainingToday } = counted
      return { ok: true, transaction: outcome.transaction, granted: amount, remainingToday }
    }
    if (!outcome.sent && outcome.failure === 'reverted') await store.tx((t) => giveBack(t, request))
    throw new RpcUnavailableError('the chain rejected the test money')
  }
}

type Counted =
  | { readonly ok: true; readonly id: string; readonly remainingToday: Usdc }
  | Extract<FaucetResult, { ok: false }>

async function count(t: Tx, { wallet, amount, nowMs }: Request): Promise<Counted> {
  const table = t.table(chainGrants)
  const row = await table.getForUpdate(wallet)
  const day = Math.floor(nowMs / DAY_MS)
  const granted = row?.day === day ? row.granted : ZERO
  const remaining = usdc(FAUCET_DAILY_LIMIT - granted)
  if (amount > remaining) return { ok: false, failure: 'daily_limit', remainingToday: remaining }
  const grants = (row?.grants ?? 0) + 1
  await table.put({ wallet, day, granted: usdc(granted + amount), grants })
  return { ok: true, id: `mint:${wallet}:${grants}`, remainingToday: usdc(remaining - amount) }
}

async function giveBack(t: Tx, { wallet, amount }: Request): Promise<void> {
  const found = await t.table(chainGrants).getForUpdate(wallet)
  if (!found || found.granted < amount) return
  await t.table(chainGrants).put({ ...found, granted: usdc(found.granted - amount) })
}
