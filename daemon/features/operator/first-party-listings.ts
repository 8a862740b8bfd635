import { engineBoard } from '../../engines/engines.ts'
import { firstParty } from '../../engines/first-party.ts'
import { noteSeen } from '../../engines/seen.ts'
import { type Context, inBackground } from '../../kernel/context.ts'
import { commit } from '../../store/draw.ts'
import { firstPartyServices } from '../first-party/index.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { liveness, refreshDirectory } from '../listings/write.ts'

/** Maximum listings of one function: its own, and one for each named path that it serves. */
const MAX_OF_FUNCTION = 16

/**
 * Activates first-party listings whose engines are available, and suspends the others. Listings that an administrator
 * deactivated stay inactive.
 */
export async function syncFirstParty(ctx: Context): Promise<void> {
  const changes = await ctx.store.read(async (t) => {
    const found: ServiceRow[] = []
    for (const slug of firstPartyServices.keys()) {
      found.push(...(await t.table(services).page('slug', [slug], { limit: MAX_OF_FUNCTION })).rows)
    }
    return found.filter((row) => statusNow(ctx, row) !== row.status)
  })
  if (changes.length === 0) return
  await commit(ctx, async (t) => {
    for (const { id } of changes) {
      const row = await t.table(services).getForUpdate(id)
      if (!row) continue
      const status = statusNow(ctx, row)
      if (status !== row.status) await t.table(services).put({ ...row, ...liveness(isUp(status)), status })
    }
    const [first] = changes
    if (first) await refreshDirectory(t, first.provider_id)
  })
}

/** Calls `syncFirstParty` whenever an engine appears or disappears, and records the engines. */
export function followEngines(ctx: Context): void {
  const sync = () => {
    if (ctx.stopping.aborted) return
    inBackground(ctx, 'house', async () => {
      await syncFirstParty(ctx)
      await noteSeen(ctx)
    })
  }
  const engines = engineBoard.of(ctx)
  engines.onChange(sync)
  void engines.ready.then(sync)
}

function isUp(status: ServiceRow['status']): 'healthy' | 'failing' {
  return status === 'active' ? 'healthy' : 'failing'
}

export function firstPartyStatus(ctx: Context, slug: string): 'active' | 'suspended' {
  const own = firstParty.of(ctx)(slug)
  return own && (own.lacking?.() ?? []).length === 0 ? 'active' : 'suspended'
}

function statusNow(ctx: Context, row: ServiceRow): ServiceRow['status'] {
  // Inactive but never edited: an old souk version created it as unavailable.
  if (row.status === 'deleted' || (row.status === 'inactive' && row.listed_at !== row.updated_at)) return row.status
  return firstPartyStatus(ctx, row.first_party_slug ?? '')
}
