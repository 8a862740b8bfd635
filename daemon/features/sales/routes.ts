import type { PaidEndpoint } from '../../../src/api/endpoint/define.ts'
import type { namedServicesApi } from '../../../src/api/sections/named-services.ts'
import type { purchaseApi } from '../../../src/api/sections/services.ts'
import { type AppError, notFound } from '../../../src/core/error.ts'
import { type NamedService, namedServices } from '../../../src/model/service.ts'
import type { Context } from '../../kernel/context.ts'
import type { Handlers, PaidHandler } from '../payments/seller.ts'
import { purchaseService as purchase } from './purchase.ts'

type Named = typeof namedServicesApi.siteAudit

export const saleRoutes: Handlers<typeof namedServicesApi & typeof purchaseApi> = {
  siteAudit: named('site-audit'),
  securityPatch: named('security-patch'),
  contentWrite: named('content-write'),
  seoOptimize: named('seo-optimize'),
  designUpdate: named('design-update'),
  purchaseService: purchase,
}

/** Handler of a named path. It sells the listing that is set for the path (decisions §7). */
function named<E extends PaidEndpoint>(slug: NamedService): PaidHandler<E> {
  const params = (ctx: Context) => ({ id: listingOf(ctx, slug) })
  const { run, onUnpaid } = purchase
  const handler: PaidHandler<Named> = {
    async quote(input, call) {
      const quote = await purchase.quote({ ...input, params: params(call.ctx) }, call)
      const { min, max } = namedServices[slug]
      if (quote.coveredBy === undefined && (quote.price < min || quote.price > max)) throw unconfigured()
      return quote
    },
    check: (input, call) => purchase.check({ ...input, params: params(call.ctx) }, call),
    ...(run ? { run: (input, call, begin) => run({ ...input, params: params(call.ctx) }, call, begin) } : {}),
    // `fulfil` uses the terms fixed in the payment, and so does not need the path.
    fulfil: purchase.fulfil as unknown as PaidHandler<Named>['fulfil'],
    ...(onUnpaid ? { onUnpaid } : {}),
  }
  // The endpoints of the named services differ only in their path, so the cast is safe.
  return handler as unknown as PaidHandler<E>
}

/** @throws AppError 404 if no listing is set for the path. */
function listingOf(ctx: Context, slug: NamedService): string {
  const id = ctx.switches.now().namedServices[slug]
  if (id === undefined) throw unconfigured()
  return id
}

function unconfigured(): AppError {
  return notFound('A listing for this path at the advertised price')
}
