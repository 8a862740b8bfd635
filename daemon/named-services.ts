import type { Input } from '../src/api/endpoint.ts'
import type { Api } from '../src/api/index.ts'
import { type NamedService, namedServices } from '../src/api/named-services.ts'
import { invalidField } from '../src/core/error.ts'
import { formatPrice } from '../src/core/money.ts'
import { splitOf } from './listing-view.ts'
import { services } from './store/collections.ts'
import type { Platform } from './store/platform.ts'
import type { ReadTx } from './store/port.ts'

type Named = NonNullable<Input<Api['setFeatures']>['body']['named_services']>

/** @throws AppError 400 that names the path whose listing is not there, or not priced as advertised. */
export async function namedServicesAfter(
  t: ReadTx,
  before: Platform,
  change: Named = {},
): Promise<Platform['named_services']> {
  for (const [slug, id] of Object.entries(change)) {
    if (typeof id === 'string') await checkNamed(t, slug as NamedService, id) // keys of the schema's enum
  }
  const entries = Object.entries({ ...before.named_services, ...change })
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

async function checkNamed(t: ReadTx, slug: NamedService, id: string): Promise<void> {
  const service = await t.table(services).get(id)
  if (service?.status !== 'active') throw invalidField(`named_services.${slug}`, 'is no active listing')
  const { min, max } = namedServices[slug]
  const price = service.pricing_model === 'fixed' ? splitOf(service)?.agent : undefined
  if (price === undefined || price < min || price > max) {
    const range = min === max ? formatPrice(min) : `${formatPrice(min)} to ${formatPrice(max)}`
    throw invalidField(`named_services.${slug}`, `must cost buyers ${range}, as advertised`)
  }
}
