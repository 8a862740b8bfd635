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
import { standings } from '../reputation/rows.ts'
import { NO_JOBS, standingOf } from '../reputation/score.ts'
import { ofProvider } from '../reputation/standings.ts'
import { type Catalog, catalog, openCatalog } from './search/catalog.ts'
import type { CatalogDoc } from './search/select.ts'

const REBUILD_PAGE = 500
/** Number of listings written at once, before yielding to other work. */
const PUTS_AT_ONCE = 20

async function* allDocs(store: Store): AsyncGenerator<CatalogDoc> {
  const active = { index: 'status', prefix: ['active'], limit: REBUILD_PAGE }
  for await (const rows of eachPage(store.table(services), active)) {
    // All at once: a database answers them together.
    const docs = await Promise.all(rows.map((row) => docOf(store, row)))
    yield* docs.filter((doc) => doc !== undefined)
  }
}

/** What the catalog has of a listing; undefined if it is not offered. */
async function docOf(t: ReadTx, service: ServiceRow | null | undefined): Promise<CatalogDoc | undefined> {
  if (service?.status !== 'active') return undefined
  const [provider, standing] = await Promise.all([
    t.table(participants).get(service.provider_id),
    t.table(standings).get(ofProvider(service.provider_id).id),
  ])
  if (!provider) return undefined
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

type FeedContext = Pick<Context, 'store' | 'log'> & { readonly catalog: Catalog; readonly pages: PageCache }
/** Facts of each provider as last copied into its listings. */
type Shown = Map<string, string>
type Feeding = FeedContext & { readonly shownOf: Shown }

/**
 * Updates catalog and cached pages after each commit.
 * @returns a catalog whose queries see every change that was durable when the query was made.
 */
export function followChanges(parts: FeedContext) {
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
  /** Stops following changes. Resolves when the table has the last change. */
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
  const { store, catalog } = parts
  const listings = change.writes.filter(({ collection }) => collection === services.name)
  const docs = await Promise.all(listings.map((write) => docOf(store, writtenRow(services, write))))
  await putAll(catalog, docs)
  for (const [n, { key }] of listings.entries()) if (docs[n] === undefined) await catalog.remove(key)
  const isPut = new Set(listings.map(({ key }) => key))
  for (const write of change.writes) {
    const standing = writtenRow(standings, write)
    const id = standing?.kind === 'provider' ? standing.provider_id : undefined
    const provider = writtenRow(participants, write) ?? (id && (await store.table(participants).get(id)))
    if (provider) await putProvider(parts, provider, isPut)
  }
}

async function putAll(catalog: Catalog, docs: readonly (CatalogDoc | undefined)[]): Promise<void> {
  const known = docs.filter((doc) => doc !== undefined)
  for (let at = 0; at < known.length; at += PUTS_AT_ONCE) {
    if (at > 0) await endOfTurn()
    await catalog.put(...known.slice(at, at + PUTS_AT_ONCE))
  }
}

/**
 * Rewrites the provider's listings if its name, tier or reputation changed, because listings include these.
 * @param isPut - listings of this change, which were written already
 */
async function putProvider({ store, catalog, shownOf }: Feeding, provider: ParticipantRow, isPut: ReadonlySet<string>) {
  const page = await store.table(services).page('provider', [provider.id, 'active'], { limit: REBUILD_PAGE })
  const first = page.rows[0] && (await docOf(store, page.rows[0]))
  if (!first) return
  const shown = JSON.stringify([first.provider_name, first.verified, first.reputation])
  if (shownOf.get(provider.id) === shown) return
  const others = page.rows.filter(({ id }) => !isPut.has(id))
  await putAll(catalog, await Promise.all(others.map((row) => docOf(store, row))))
  shownOf.set(provider.id, shown)
}
