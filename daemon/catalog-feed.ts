import type { ParticipantRow } from '../src/model/participant.ts'
import type { ServiceRow } from '../src/model/service.ts'
import { splitOf } from './listing-view.ts'
import { type Catalog, type CatalogDoc, openCatalog } from './store/catalog/catalog.ts'
import { participants, services } from './store/collections.ts'
import type { Change, Store } from './store/port.ts'
import type { World } from './world.ts'

const REBUILD_PAGE = 500

/** Opens the derived catalog table, rebuilt from the store when it is not of its state. */
export async function openCatalogOf(store: Store, path: string): Promise<Catalog> {
  const catalog = await openCatalog({ path })
  if ((await catalog.seq()) !== store.stats().seq) await catalog.rebuild(allDocs(store), store.stats().seq)
  return catalog
}

async function* allDocs(store: Store): AsyncGenerator<CatalogDoc> {
  let after: string | undefined
  for (;;) {
    const page = await store
      .table(services)
      .page('status', ['active'], { limit: REBUILD_PAGE, ...(after === undefined ? {} : { after }) })
    for (const service of page.rows) {
      const provider = await store.table(participants).get(service.provider_id)
      if (provider) yield docOf(service, provider)
    }
    if (!page.more || page.cursor === null) return
    after = page.cursor
  }
}

function docOf(service: ServiceRow, provider: ParticipantRow): CatalogDoc {
  return {
    id: service.id,
    name: service.name,
    tags: service.tags,
    category: service.category,
    description: service.description,
    provider_id: provider.id,
    provider_name: provider.name,
    service_type: service.service_type,
    fulfillment_type: service.fulfillment_type,
    agent_price: splitOf(service)?.agent ?? null,
    verified: provider.verification_tier === 'identity_verified',
    reputation: null,
    listed_at: service.listed_at,
  }
}

/** Keeps the catalog table and the finished pages in step with what was committed. */
export function followChanges(world: World): () => void {
  let last = Promise.resolve()
  return world.store.subscribe((change) => {
    if (!change.writes.some(({ collection }) => shown.has(collection))) return
    world.pages.drop()
    last = last
      .then(() => apply(world, change))
      .catch((error: unknown) => world.log.error({ source: 'catalog', err: String(error) }, 'catalog is behind'))
      // A page built between the two drops may have asked the table too early.
      .then(() => world.pages.drop())
  })
}

/** At a clean stop the table says of which state it is, so that the next start need not rebuild it. */
export async function closeCatalog({ catalog, store }: Pick<World, 'catalog' | 'store'>): Promise<void> {
  await catalog.remove(NO_LISTING, store.stats().seq)
  await catalog.close()
}

/** An id that no listing has: removing it only moves the table's sequence number on. */
const NO_LISTING = 'svc_'

const shown: ReadonlySet<string> = new Set([services.name, participants.name])

async function apply(world: World, change: Change): Promise<void> {
  for (const { collection, key, row } of change.writes) {
    if (collection === services.name) await putService(world, { key, row: row as ServiceRow | null, seq: change.seq }) // the collection's rows
    if (collection === participants.name && row !== null) await putProvider(world, row as ParticipantRow, change.seq) // the collection's rows
  }
}

async function putService(world: World, change: { key: string; row: ServiceRow | null; seq: number }): Promise<void> {
  const { key, row, seq } = change
  const provider = row && (await world.store.table(participants).get(row.provider_id))
  if (row?.status === 'active' && provider) await world.catalog.put(docOf(row, provider), seq)
  else await world.catalog.remove(key, seq)
}

/** A provider's name and tier are part of each of its listings. */
async function putProvider(world: World, provider: ParticipantRow, seq: number): Promise<void> {
  const page = await world.store.table(services).page('provider', [provider.id, 'active'], { limit: REBUILD_PAGE })
  for (const service of page.rows) await world.catalog.put(docOf(service, provider), seq)
}
