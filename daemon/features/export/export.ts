import { z } from 'zod'
import {
  ExportEnd,
  type ExportKind,
  ExportStart,
  type exportApi,
  exportKinds,
  exportRecords,
} from '../../../src/api/sections/export.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import type { Context } from '../../kernel/context.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { exportSources } from './sources.ts'

export type Exporting = {
  readonly who: ParticipantRow
  /** Business time. */
  readonly now: number
  readonly kinds: readonly ExportKind[]
}

/**
 * All records of one participant as lines, in the form of `getExport`. Each page is one short read, so other requests
 * continue. Only durable data is sent.
 * @throws Error if the daemon stops. The export then has no last line.
 */
export async function* exportLines(ctx: Context, { who, now, kinds }: Exporting): AsyncGenerator<string> {
  yield line('export', z.encode(ExportStart, { as_of: now, participant_id: who.id }))
  const counts: Partial<Record<ExportKind, number>> = {}
  let records = 0
  for (const kind of kinds) {
    let count = 0
    for await (const page of exportSources[kind].pages({ ctx, who, now })) {
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

function line(kind: ExportKind | 'export' | 'end', record: unknown): string {
  return `${JSON.stringify({ kind, record })}\n`
}

const getExport: FreeHandler<typeof exportApi.getExport> = async ({ query }, { ctx, caller, now }) => {
  const wanted = new Set<ExportKind>(query.only === undefined ? exportKinds : (query.only.split(',') as ExportKind[])) // held to the kinds by the row
  const kinds = exportKinds.filter((kind) => wanted.has(kind))
  const day = new Date(now).toISOString().slice(0, 'yyyy-mm-dd'.length)
  return {
    name: `souk-export-${caller.id}-${day}.ndjson`,
    chunks: () => exportLines(ctx, { who: caller, now, kinds }),
  }
}

export const exportRoutes: FreeHandlers<typeof exportApi> = { getExport }
