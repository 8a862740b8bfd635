import type { exportApi } from '../../../src/api/sections/export.ts'
import { type ExportKind, exportKinds } from '../../../src/api/sections/export.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { exportLines } from './export.ts'

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
