import { type SaleKind, type Split, split } from '../ledger/split.ts'
import type { ServiceRow } from './rows.ts'
export function saleKind(service: Pick<ServiceRow, 'first_party_slug'>): SaleKind {
  return service.first_party_slug === null ? 'third_party' : 'first_party'
}

/** How a listing's price divides; undefined under `quote_required` without one. */
export function splitOf(service: ServiceRow): Split | undefined {
  return service.price === null ? undefined : split(saleKind(service), service.price)
}

/** What a purchase pays, undefined where the price has to be asked for, whatever the listing shows as one. */
export function payableSplit(service: ServiceRow): Split | undefined {
  return service.pricing_model === 'quote_required' ? undefined : splitOf(service)
}
