import type { Collection, Page, ReadTx, Row } from '../../store/port.ts'
import { type AccountRow, accounts, type LedgerRow, ledger } from '../ledger/rows.ts'

/** Rows of one slice: long walks let others in between. */
const SLICE_ROWS = 500

export type AuditSlice<R> = {
  readonly rows: readonly R[]
  /** Where the next slice begins; what was given when there was nothing. */
  readonly cursor: string | undefined
  readonly more: boolean
}

/** The next transactions of the books in commit order. */
export async function ledgerSlice(t: ReadTx, after: string | undefined): Promise<AuditSlice<LedgerRow>> {
  const page = await t.table(ledger).page('seq', [], { limit: SLICE_ROWS, ...from(after) })
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
  const page = await t.table(accounts).page('kind', [], { limit: SLICE_ROWS, ...from(after) })
  return { rows: page.rows, cursor: page.cursor ?? after, more: page.more }
}

function from(after: string | undefined): { after?: string } {
  return after === undefined ? {} : { after }
}

/** All rows of a partial index that holds few, such as what is open. */
export async function everyRow<R extends Row>(t: ReadTx, collection: Collection<R>, index: string): Promise<R[]> {
  const rows: R[] = []
  let after: string | undefined
  for (let more = true; more; ) {
    const page: Page<R> = await t.table(collection).page(index, [], { limit: SLICE_ROWS, ...from(after) })
    rows.push(...page.rows)
    after = page.cursor ?? after
    more = page.more
  }
  return rows
}
