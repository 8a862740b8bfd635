import { z } from 'zod'
import type { booksAdminApi, StatementPeriod } from '../../../src/api/sections/books.ts'
import {
  ExportEnd,
  type ExportKind,
  ExportStart,
  type exportApi,
  exportKinds,
  exportRecords,
} from '../../../src/api/sections/export.ts'
import { existing, invalidField } from '../../../src/core/error.ts'
import { compact } from '../../../src/core/record.ts'
import type { FreeHandler, FreeHandlers, Streamed } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import { operatorMovements } from './movements.ts'
import { receiptRoutes } from './receipts.ts'
import { exportSources } from './sources.ts'

export type Exporting = {
  /** null: the operator, who has movements only. */
  readonly who: ParticipantRow | null
  /** Business time. */
  readonly now: number
  readonly kinds: readonly ExportKind[]
  readonly period?: StatementPeriod
}

/**
 * All records of one participant as lines, in the form of `getExport`. Each page is one short read, so other requests
 * continue. Only durable data is sent.
 * @throws Error if the daemon stops. The export then has no last line.
 */
export async function* exportLines(ctx: Context, { who, now, kinds, period = {} }: Exporting): AsyncGenerator<string> {
  yield line('export', z.encode(ExportStart, startOf(who, now)))
  const counts: Partial<Record<ExportKind, number>> = {}
  let records = 0
  for (const kind of kinds) {
    let count = 0
    const pages = who ? exportSources[kind].pages({ ctx, who, now, period }) : operatorMovements({ ctx, period })
    for await (const page of pages) {
      await ctx.store.durable()
      if (ctx.stopping.aborted) throw new Error('the daemon stopped before the export was complete')
      count += page.length
      if (page.length > 0) yield page.map((record) => line(kind, z.encode(exportRecords[kind], record))).join('')
    }
    counts[kind] = count
    records += count
  }
  yield line('end', z.encode(ExportEnd, { records, counts }))
}

function startOf(who: ParticipantRow | null, as_of: number): z.output<typeof ExportStart> {
  if (who === null) return { as_of, participant_id: null }
  return { as_of, participant_id: who.id, ...compact({ tax: who.tax ?? undefined }) }
}

function line(kind: ExportKind | 'export' | 'end', record: unknown): string {
  return `${JSON.stringify({ kind, record })}\n`
}

function periodOf({ from, to }: StatementPeriod): StatementPeriod {
  if (from !== undefined && to !== undefined && from >= to) throw invalidField('to', 'must be after from')
  return { from, to }
}

const getExport: FreeHandler<typeof exportApi.getExport> = async ({ query }, { ctx, caller, now }) => {
  const wanted = new Set<ExportKind>(query.only === undefined ? exportKinds : (query.only.split(',') as ExportKind[])) // held to the kinds by the row
  const kinds = exportKinds.filter((kind) => wanted.has(kind))
  return exported(ctx, { who: caller, now, kinds, period: periodOf(query) })
}

function exported(ctx: Context, exporting: Exporting): Streamed {
  const day = new Date(exporting.now).toISOString().slice(0, 'yyyy-mm-dd'.length)
  const name = `souk-export-${exporting.who?.id ?? 'operator'}-${day}.ndjson`
  return { name, chunks: () => exportLines(ctx, exporting) }
}

const getStatement: FreeHandler<typeof booksAdminApi.getStatement> = async ({ query }, { ctx, now }) => {
  const { participant: id } = query
  const period = periodOf(query)
  const who = id === undefined ? null : existing(await ctx.store.table(participants).get(id), 'The participant')
  return exported(ctx, { who, now, kinds: ['movement'], period })
}

const exportHandlers: FreeHandlers<typeof exportApi & typeof booksAdminApi> = { getExport, getStatement }
export const exportRoutes = { ...exportHandlers, ...receiptRoutes }
