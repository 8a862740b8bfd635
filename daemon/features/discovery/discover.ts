import type { z } from 'zod'
import { api } from '../../../src/api/index.ts'
import type { discoverApi, Listing } from '../../../src/api/sections/services.ts'
import { MAX_PAGE } from '../../../src/core/limits.ts'
import { exampleInput } from '../../../src/schema/example.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { encodeListing, listingView } from '../catalog/listing-routes.ts'
import { firstPartyServices } from '../first-party/index.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { fixedFee, type Handlers } from '../payments/seller.ts'
import type { TrustAsked } from '../reputation/routes.ts'
import { guideMarkdown, guideSteps } from './guide.ts'

/** Maximum listings per response (decisions §7). */
const MAX_LISTINGS = 1_000
/** Maximum JSON size of all listings. The response is stored, and schemas may be large. */
const MAX_LISTINGS_BYTES = 4 * 1024 * 1024

type View = z.output<typeof Listing>

export const discoverRoutes: Handlers<typeof discoverApi> = {
  /** Sells the active catalog, with a guide whose requests run on this marketplace. */
  discover: {
    async check() {
      // No caller is refused.
    },

    async fulfil(t, _draw, { payment, source, baseUrl, now }) {
      const total = await t.table(services).count('status', ['active'])
      const { rows } = await t.table(services).page('status', ['active'], { limit: MAX_LISTINGS })
      const views = await listingViews(t, rows, { baseUrl, now })
      const steps = guideSteps(baseUrl, rows.find(isSample))
      return fixedFee(
        { payment, source },
        { kind: 'receipt', id: payment.receipt_id },
        {
          services: views,
          total,
          next: views.length < total ? `${baseUrl}${api.getCatalog.path}?${rest(views.length)}` : null,
          guide: { steps },
          guide_markdown: guideMarkdown(steps),
        },
      )
    },
  },
}

function rest(offset: number): string {
  return `sort=newest&limit=${MAX_PAGE}&offset=${offset}`
}

/**
 * Whether a listing suits a first purchase: first-party, instant, without optional engines, and without a URL in its
 * example. Such a purchase also works without a network.
 */
function isSample({ first_party_slug: slug, price, fulfillment_type, input_schema }: ServiceRow): boolean {
  const own = slug === null || price === null ? undefined : firstPartyServices.get(slug)
  if (!own || own.needs.length > 0 || fulfillment_type !== 'instant') return false
  return !JSON.stringify(exampleInput(input_schema) ?? {}).includes('://')
}

async function listingViews(t: ReadTx, rows: readonly ServiceRow[], asked: TrustAsked): Promise<View[]> {
  const providers = new Map<string, ParticipantRow>()
  for (const provider of await t.table(participants).getMany([...new Set(rows.map((row) => row.provider_id))])) {
    providers.set(provider.id, provider)
  }
  const views: View[] = []
  let bytes = 0
  for (const row of rows) {
    const provider = providers.get(row.provider_id)
    if (!provider) throw new Error(`listing ${row.id} has no provider`)
    const view = await listingView(t, { ...asked, service: row, provider }, { detail: false })
    bytes += Buffer.byteLength(encodeListing(view))
    if (bytes > MAX_LISTINGS_BYTES) break
    views.push(view)
  }
  return views
}
