import { AppError } from '../../../src/core/error.ts'
import { keysOf } from '../../../src/core/record.ts'
import { type ListingVersion, SaleTerms } from '../../../src/model/service.ts'
import { type SaleKind, type Split, split } from '../ledger/legs.ts'
import { chosenOffer, type QuoteWindow, stillGood, type Tender, windowAfter } from './quote-window.ts'
import type { ServiceRow } from './rows.ts'

export function saleKind(service: Pick<ServiceRow, 'first_party_slug'>): SaleKind {
  return service.first_party_slug === null ? 'third_party' : 'first_party'
}

/** How a listing's price is divided; undefined for `quote_required` without a price. */
export function splitOf(service: ServiceRow): Split | undefined {
  return service.price === null ? undefined : split(saleKind(service), service.price)
}

/** How the price of a direct purchase is divided; undefined if a quote is required. */
export function payableSplit(service: ServiceRow): Split | undefined {
  return service.pricing_model === 'quote_required' ? undefined : splitOf(service)
}

const termNames = keysOf(SaleTerms.shape)

export function termsOf(listing: SaleTerms): SaleTerms {
  return Object.fromEntries(termNames.map((name) => [name, listing[name]])) as SaleTerms // all of its members
}

function versionOf(listing: ServiceRow): ListingVersion {
  return { ...termsOf(listing), price: listing.price, pricing_model: listing.pricing_model }
}

export type ListingOffer = QuoteWindow & { readonly split: Split; readonly terms: SaleTerms }

/** The version that the payment `tender` buys; undefined if a quote is required. @param wall - wall time */
export function listingOffer(service: ServiceRow, tender: Tender, wall: number): ListingOffer | undefined {
  const before = stillGood(service.previous, wall)
  return chosenOffer(
    { before: before && offerOf(service, before), today: offerOf(service, versionOf(service)) },
    tender,
  )
}

function offerOf(service: ServiceRow, version: ListingVersion): ListingOffer | undefined {
  const shares = payableSplit({ ...service, ...version })
  if (!shares) return undefined
  const settle = version.fulfillment_type === 'instant' ? 'last' : 'first'
  return { price: shares.agent, settle, split: shares, terms: termsOf(version) }
}

/** Terms of calls that a subscription covers. During the window that an edit opened, these are the old terms. */
export function coveredTerms(service: ServiceRow, wall: number): SaleTerms {
  return termsOf(stillGood(service.previous, wall) ?? service)
}

/** An edited listing, with its previous version. @throws AppError 409 for a second edit during the quote window */
export function editedListing(held: ServiceRow, changed: ServiceRow, wall: number): ServiceRow {
  const edit = { before: versionOf(held), after: versionOf(changed), previous: held.previous, wall }
  const previous = windowAfter(edit)
  if (previous === undefined || previous === held.previous) return changed
  return { ...changed, previous, edits: (held.edits ?? 0) + 1 }
}

/** Edit number of the version that a plan's quote includes: the old version while its quote window is open. */
export function goodEdit({ edits = 0, previous }: ServiceRow, wall: number): number {
  return stillGood(previous, wall) ? edits - 1 : edits
}

/** Terms of the version with this number of edits (default: today's). @throws AppError 409 if that version is gone. */
export function termsAsOf(service: ServiceRow, edits: number | undefined): SaleTerms {
  const { edits: today = 0, previous } = service
  if (edits === undefined || edits === today) return termsOf(service)
  if (previous && edits === today - 1) return termsOf(previous.version)
  throw new AppError('conflict', `The terms of ${service.id} changed since the quote: ask for a new one.`)
}
