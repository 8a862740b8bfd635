import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import { defineHook } from '../../kernel/hook.ts'
import { putSetting, settings } from '../../kernel/rows.ts'
import type { SdnSource } from '../../ports/sdn/source.ts'
import { everyRow } from '../../store/each-page.ts'
import type { Draft, ReadTx, Store, Tx } from '../../store/port.ts'
import { type SanctionRow, SdnState, sanctions } from './rows.ts'

/** Settings key of the list's state. */
const SDN = 'sdn'
const SLICE_ROWS = 500
/** A list that was last checked longer ago than this counts as stale. */
const STALE_MS = 48 * HOUR_MS

/** Called when a wallet is no longer sanctioned. */
export const walletCleared = defineHook<[t: Tx, wallet: Wallet, at: number]>('wallet-cleared')

const fresh: SdnState = {
  source: null,
  publish_date: null,
  addresses: 0,
  added: 0,
  last_updated: null,
  last_checked: null,
  last_status: 'never checked',
}

export type Sanctions = {
  readonly has: (wallet: Wallet) => boolean
  /** State of the list, with the number of sanctioned wallets, and the number of those that only an operator added. */
  readonly state: () => SdnState & { readonly total: number; readonly manualOnly: number }
  /** Reads wallets and state from the store; call it after a change. */
  readonly follow: () => Promise<void>
}

/** The check whether a wallet is sanctioned, with its list and the list's source. */
export type Compliance = {
  readonly list: Sanctions
  readonly source: SdnSource
  /**
   * Whether a wallet is sanctioned (decisions §4).
   * @throws AppError `unavailable` if money is real and no list is loaded
   */
  readonly isSanctioned: (wallet: Wallet) => Promise<boolean>
}

export const compliance = defineResource<Compliance>('compliance')

export async function openSanctions(store: Store): Promise<Sanctions> {
  let wallets: ReadonlySet<Wallet> = new Set()
  let state = { ...fresh, total: 0, manualOnly: 0 }

  async function follow(): Promise<void> {
    const read = await store.read(async (t) => ({ rows: await everySanction(t), state: await readSdnState(t) }))
    wallets = new Set(read.rows.map(({ wallet }) => wallet))
    state = { ...read.state, total: wallets.size, manualOnly: read.rows.filter(({ listed }) => !listed).length }
  }

  await follow()
  return { has: (wallet) => wallets.has(wallet), state: () => state, follow }
}

export async function readSdnState(t: ReadTx): Promise<SdnState> {
  const row = await t.table(settings).get(SDN)
  return row ? SdnState.parse(row.value) : fresh
}

export async function writeSdnState(t: Tx, state: SdnState): Promise<void> {
  await putSetting(t, SDN, state)
}

function everySanction(t: ReadTx): Promise<SanctionRow[]> {
  return everyRow(t.table(sanctions), { index: 'wallet', prefix: [], limit: SLICE_ROWS })
}

type Swap = { readonly wallets: ReadonlySet<Wallet>; readonly at: number }

/** Replaces the list; wallets that an operator added stay. @returns the number of wallets added and removed */
export async function swapList(t: Tx, { wallets, at }: Swap): Promise<{ added: number; removed: number }> {
  const held = new Map((await everySanction(t)).map((row) => [row.wallet, row]))
  let added = 0
  let removed = 0
  for (const wallet of wallets) {
    if (held.get(wallet)?.listed) continue
    added += 1
    await putSanction(t, { ...(held.get(wallet) ?? sanctionOf(wallet, at)), listed: true })
  }
  for (const row of held.values()) {
    if (!row.listed || wallets.has(row.wallet)) continue
    removed += 1
    await putSanction(t, { ...row, listed: false }, at)
  }
  return { added, removed }
}

export function sanctionOf(wallet: Wallet, since: number): Draft<SanctionRow> {
  return { wallet, listed: false, manual: false, reason: null, since }
}

/**
 * Writes the row of a sanctioned wallet. If neither list nor operator names it any more, removes the row and calls
 * `walletCleared`.
 */
export async function putSanction(t: Tx, row: Draft<SanctionRow>, at = row.since): Promise<void> {
  const table = t.table(sanctions)
  if (row.listed || row.manual) {
    await table.getForUpdate(row.wallet)
    await table.put(row)
    return
  }
  await table.delete(row.wallet)
  await walletCleared.call(t, row.wallet, at)
}

/** The data of `/health.compliance.sdn`; `source` must not contain secrets. */
export function sdnHealth(sanctions: Sanctions, { source, now }: { readonly source: string; readonly now: number }) {
  const state = sanctions.state()
  return {
    last_updated: state.last_updated,
    last_checked: state.last_checked,
    source,
    ofac_publish_date: state.publish_date,
    ofac_evm_count: state.addresses,
    total: state.total,
    added: state.added,
    manual_only: state.manualOnly,
    last_status: state.last_status,
    stale: state.last_checked === null || now - state.last_checked > STALE_MS,
  }
}

/** @throws AppError 403 `sanctioned` (decisions §4) */
export async function refuseSanctioned(ctx: Context, wallet: Wallet): Promise<void> {
  if (!(await compliance.of(ctx).isSanctioned(wallet))) return
  throw new AppError('sanctioned', 'This wallet is on a sanctions list; nothing was charged or paid.')
}
