import type { WireAnswer } from '../api/index.ts'
import * as column from './columns.ts'
import type { Noun } from './noun.ts'
import { dim, good, type Toned, warn } from './tones.ts'

export type CatalogListing = WireAnswer<'getCatalog'>['services'][number]

/** How each webhook status is shown: in tables, as JSON value, and in a sentence. */
const hooks: Readonly<Record<CatalogListing['webhook_status'], { shown: Toned; plain: string; words: string }>> = {
  healthy: { shown: good('✓'), plain: 'ok', words: 'answers' },
  polling: { shown: good('✓ polls'), plain: 'polls', words: 'no endpoint; the provider polls for jobs' },
  failing: { shown: warn('! degraded'), plain: 'degraded', words: 'the last delivery failed; jobs may wait' },
  not_tried: { shown: dim('not tried'), plain: 'not tried', words: 'not tried yet' },
}

/** How a webhook status is shown. A status that only newer instances know is shown unchanged. */
export function hookOf(status: CatalogListing['webhook_status']) {
  return hooks[status] ?? { shown: status, plain: status, words: status }
}

function bare(price: string | null): string | null {
  return price === null ? null : price.replace('$', '')
}

function reputation({ provider_reputation: score }: CatalogListing): string | null {
  if (score === null) return null
  return typeof score === 'number' ? String(score) : `${score.score}${score.is_new ? 'n' : ''}`
}

export const service: Noun<CatalogListing> = {
  name: 'service',
  plural: 'services',
  list: 'listAllServices',
  none: 'no such listing',
  source: ['a seller lists one', 'souk services create'],
  idOf: (listing) => listing.id,
  nameOf: (listing) => listing.name,
  columns: [
    column.id('ID', (listing) => listing.id),
    column.name(
      'NAME',
      (listing) => (listing.status === 'active' ? listing.name : `${listing.name} (${listing.status})`),
      { plain: (listing) => listing.name },
    ),
    column.word('KIND', ({ fulfillment_type }) => fulfillment_type, { drop: 3 }),
    column.money('PRICE', ({ price }) => price.fixed, { plain: ({ price }) => bare(price.fixed), drop: 4 }),
    column.money('YOU PAY', ({ agent_price }) => agent_price.fixed, {
      all: 'BUYER PAYS',
      plain: ({ agent_price }) => bare(agent_price.fixed),
    }),
    { ...column.word('REP', reputation, { drop: 2 }), kind: 'count' },
    column.word('HOOK', ({ webhook_status }) => hookOf(webhook_status).shown, {
      plain: ({ webhook_status }) => hookOf(webhook_status).plain,
      drop: 1,
    }),
  ],
}
