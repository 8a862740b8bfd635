import { compact } from '../../../src/core/record.ts'
import type { ReadTx } from '../../store/port.ts'
import { type AccountRow, accounts, type LedgerRow, ledger } from '../ledger/rows.ts'

/** Rows per slice. Other work runs between two slices. */
export const SLICE_ROWS = 500

export type AuditSlice<R> = {
  readonly rows: readonly R[]
  /** Cursor for the next slice; the given cursor if this slice is empty. */
  readonly cursor: string | undefined
  readonly more: boolean
}

/** The next transactions in commit order. */
export async function ledgerSlice(t: ReadTx, after: string | undefined): Promise<AuditSlice<LedgerRow>> {
  const page = await t.table(ledger).page('seq', [], { limit: SLICE_ROWS, ...compact({ after }) })
  return { rows: page.rows, cursor: page.cursor ?? after, more: page.more }
}

/** All transactions after the cursor `after`, in one read. Use it only for the few added since the last slice. */
export async function ledgerToEnd(t: ReadTx, after: string | undefined): Promise<AuditSlice<LedgerRow>> {
  const rows: LedgerRow[] = []
  let slice: AuditSlice<LedgerRow> = { rows, cursor: after, more: true }
  while (slice.more) {
    slice = await ledgerSlice(t, slice.cursor)
    rows.push(...slice.rows)
  }
  return { ...slice, rows }
}

export async function accountSlice(t: ReadTx, after: string | undefined): Promise<AuditSlice<AccountRow>> {
  const page = await t.table(accounts).page('kind', [], { limit: SLICE_ROWS, ...compact({ after }) })
  return { rows: page.rows, cursor: page.cursor ?? after, more: page.more }
}
