import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { CatalogListing } from '../../nouns/services.ts'

type Selling = WireAnswer<Api['listAllServices']>['services'][number]['selling']

/** A listing. Only the operator's list has sales figures. */
export type Listing = (WireAnswer<Api['getService']> | CatalogListing) & { readonly selling?: Selling }

/** The reputation of the provider, as a number. Undefined if it has none. */
export function scoreOf({ provider_reputation: score }: Listing): number | undefined {
  return (typeof score === 'number' ? score : score?.score) ?? undefined
}

export function isNewProvider({ provider_is_new: isNew, provider_reputation: score }: Listing): boolean {
  return isNew === true || (typeof score === 'object' && score?.is_new === true)
}
