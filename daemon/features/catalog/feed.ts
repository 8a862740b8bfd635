import { join } from 'node:path'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { type PageCache, pageCache } from '../../endpoint/page-cache.ts'
import type { Context } from '../../kernel/context.ts'
import { type ParticipantRow, participants, settings } from '../../kernel/rows.ts'
import { PLATFORM } from '../../kernel/switches.ts'
import { eachPage } from '../../store/each-page.ts'
import { type Change, type ReadTx, type Store, writtenRow } from '../../store/port.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { payableSplit, splitOf } from '../listings/versions.ts'
import { type StandingRow, standings } from '../reputation/rows.ts'
import { NO_JOBS, standingOf } from '../reputation/score.ts'
import { ofProvider } from '../reputation/standings.ts'
import { type Catalog, catalog, openCatalog } from './search/catalog.ts'
import type { CatalogDoc } from './search/select.ts'

const REBUILD_PAGE = 500
/** Number of listings written in a row before yielding to other work. */
const PUTS_IN_A_ROW = 20

async function* allDocs(store: Store): AsyncGenerator<CatalogDoc> {
  const active = { index: 'status', prefix: ['active'], limit: REBUILD_PAGE }
  for await (const rows of eachPage(store.table(services), active)) {
    for (const service of rows) {
      const provider = await store.table(participants).get(service.provider_id)
      if (provider) yield await docOf(store, service, provider)
    }
  }
}

async function docOf(t: ReadTx, service: ServiceRow, provider: ParticipantRow): Promise<CatalogDoc> {
  const standing = await t.table(standings).get(ofProvider(provider.id).id)
  return {
    id: service.id,
    // The slug of a first-party listing is searchable, too.
    name: [service.name, service.first_party_slug?.replaceAll('_', ' ')].filter(Boolean).join(' '),
    tags: service.tags,
    category: service.category,
    description: service.description,
    provider_id: provider.id,
    provider_name: provider.name,
    service_type: service.service_type,
    fulfillment_type: service.fulfillment_type,
    agent_price: splitOf(service)?.agent ?? null,
    payable: payableSplit(service) !== undefined,
    verified: provider.verification_tier === 'identity_verified',
    reputation: standingOf(standing?.sums ?? NO_JOBS).score,
    listed_at: service.listed_at,
  }
}

type Feed = {
  readonly catalog: Catalog
  /** Stops following changes. Resolves when the table has the last change. */
  readonly stop: () => Promise<void>
}

type FeedContext = Pick<Context, 'store' | 'log'> & { readonly catalog: Catalog; readonly pages: PageCache }
/** Facts of each provider as last copied into its listings. */
type Shown = Map<string, string>
type Feeding = FeedContext & { readonly shownOf: Shown }

/**
 * Updates catalog and cached pages after each commit.
 * @returns a catalog whose queries see every change that was durable when the query was made.
 */
export function followChanges(parts: FeedContext): Feed {
  const { store, catalog, pages, log } = parts
  const shownOf: Shown = new Map()
  let last = Promise.resolve()
  const unsubscribe = store.subscribe((change) => {
    if (!change.writes.some(isShown)) return
    pages.drop()
    last = last
      .then(() => apply({ ...parts, shownOf }, change))
      .catch((error: unknown) => log.error({ source: 'catalog', err: String(error) }, 'catalog is behind'))
      // Drop the pages again, because a page built during the update may show the old table.
      .then(() => pages.drop())
  })
  const query: Catalog['query'] = async (asked) => {
    await last
    return catalog.query(asked)
  }
  const stop = () => {
    unsubscribe()
    return last
  }
  return { catalog: { ...catalog, query }, stop }
}

/** Opens the derived catalog and updates it. A clean stop records the store's state, so that the next start is quick. */
export async function openCatalogOver(ctx: Context): Promise<void> {
  const { store, config, log } = ctx
  const path = join(config.dataDir, 'catalog.db')
  const table = await openCatalog(path, store.stats().seq, () => allDocs(store))
  const feed = followChanges({ store, catalog: table, pages: pageCache.of(ctx), log })
  catalog.open(ctx, feed.catalog, async () => {
    await feed.stop()
    await table.close(store.stats().seq)
  })
}

const shown: ReadonlySet<string> = new Set([services.name, participants.name, standings.name])

/** Whether a write can change a catalog page. The platform row can, because it switches the verdicts on and off. */
function isShown({ collection, key }: Change['writes'][number]): boolean {
  return shown.has(collection) || (collection === settings.name && key === PLATFORM)
}

async function apply(parts: Feeding, change: Change): Promise<void> {
  for (const write of change.writes) {
    const service = writtenRow(services, write)
    if (service !== undefined) await putService(parts, write.key, service)
    const provider = writtenRow(participants, write)
    if (provider) await putProvider(parts, provider)
    const standing = writtenRow(standings, write)
    if (standing) await putStanding(parts, standing)
  }
}

async function putService(parts: FeedContext, key: string, row: ServiceRow | null): Promise<void> {
  const provider = row && (await parts.store.table(participants).get(row.provider_id))
  if (row?.status === 'active' && provider) await parts.catalog.put(await docOf(parts.store, row, provider))
  else await parts.catalog.remove(key)
}

/**
 * Rewrites the provider's listings if its name, tier or reputation changed, because listings include these. Yields to
 * other work after every `PUTS_IN_A_ROW` writes.
 */
async function putProvider({ store, catalog, shownOf }: Feeding, provider: ParticipantRow): Promise<void> {
  const page = await store.table(services).page('provider', [provider.id, 'active'], { limit: REBUILD_PAGE })
  const [first] = page.rows
  if (!first) return
  const { provider_name, verified, reputation } = await docOf(store, first, provider)
  const shown = JSON.stringify([provider_name, verified, reputation])
  if (shownOf.get(provider.id) === shown) return
  for (const [at, service] of page.rows.entries()) {
    if (at % PUTS_IN_A_ROW === PUTS_IN_A_ROW - 1) await endOfTurn()
    await catalog.put(await docOf(store, service, provider))
  }
  shownOf.set(provider.id, shown)
}

async function putStanding(parts: Feeding, { kind, provider_id }: StandingRow): Promise<void> {
  const provider = kind === 'provider' ? await parts.store.table(participants).get(provider_id) : undefined
  if (provider) await putProvider(parts, provider)
}
