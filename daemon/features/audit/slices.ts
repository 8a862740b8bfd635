import { compact } from '../../../src/core/record.ts'
import type { ReadTx } from '../../store/port.ts'
import { type AccountRow, accounts, type LedgerRow, ledger } from '../ledger/rows.ts'

/** Rows of one slice: long walks let others in between. */
export const SLICE_ROWS = 500

export type AuditSlice<R> = {
  readonly rows: readonly R[]
  /** Where the next slice begins; what was given when there was nothing. */
  readonly cursor: string | undefined
  readonly more: boolean
}

/** The next transactions of the books in commit order. */
export async function ledgerSlice(t: ReadTx, after: string | undefined): Promise<AuditSlice<LedgerRow>> {
  const page = await t.table(ledger).page('seq', [], { limit: SLICE_ROWS, ...compact({ after }) })
  return { rows: page.rows, cursor: page.cursor ?? after, more: page.more }
}

/** All transactions up to the end as this read sees it: meant for the few since the last slice. */
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
