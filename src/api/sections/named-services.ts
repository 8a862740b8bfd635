import { z } from 'zod'
import { Amount, idOf, namedObject } from '../../core/codecs.ts'
import { type NamedService, namedSlugs } from '../../model/service.ts'
import { adminEndpoint, defineEndpoint, jsonBody, namedJson, paid } from '../endpoint/define.ts'
import { plansApi } from './plans.ts'
import { PriceInput, purchaseApi } from './services.ts'

const MAX_FUNCTION_CHARS = 100
/** Members that all named paths share. A path is off by default; the operator can make it an alias of a listing. */
const alias = {
  method: 'POST',
  access: paid('varies', { bundled: true }),
  section: 'Named services (advertised, absent from the health listing)',
  body: jsonBody(purchaseApi.purchaseService.body.schema),
  reply: purchaseApi.purchaseService.reply,
  errors: purchaseApi.purchaseService.errors,
  summary: 'named service',
} as const

/** Configuration of a path, in exactly one of four ways. */
const NamedChange = namedObject('NamedServiceChange', {
  from: z.string().max(MAX_FUNCTION_CHARS).optional().meta({ description: 'house function that serves the path' }),
  price: PriceInput.optional().meta({ description: 'with `from`: price in the advertised range' }),
  listing: idOf('service').optional().meta({ description: 'listing that the path is an alias for' }),
  plan: idOf('plan').optional().meta({ description: 'a monthly plan that the path subscribes to' }),
  enabled: z.literal(false).optional().meta({ description: 'false: the path is closed' }),
})

/** The only advertised path that sells a plan (decisions §7). */
export const SUBSCRIBING: NamedService = 'maintenance-plan'

export const namedServicesApi = {
  siteAudit: defineEndpoint({ ...alias, path: '/v1/services/site-audit', switch: 'site-audit' }),

  securityPatch: defineEndpoint({ ...alias, path: '/v1/services/security-patch', switch: 'security-patch' }),

  contentWrite: defineEndpoint({ ...alias, path: '/v1/services/content-write', switch: 'content-write' }),

  seoOptimize: defineEndpoint({ ...alias, path: '/v1/services/seo-optimize', switch: 'seo-optimize' }),

  designUpdate: defineEndpoint({ ...alias, path: '/v1/services/design-update', switch: 'design-update' }),
}

export const maintenancePlanApi = {
  /** An alias of a monthly plan: a purchase here subscribes to the plan. */
  maintenancePlan: defineEndpoint({
    path: '/v1/services/maintenance-plan',
    access: paid('varies'),
    section: alias.section,
    switch: 'maintenance-plan',
    feature: 'subscriptions',
    body: alias.body,
    reply: plansApi.subscribe.reply,
    errors: plansApi.subscribe.errors,
    summary: alias.summary,
  }),
}

export const namedServiceAdminApi = {
  setNamedService: adminEndpoint({
    method: 'PUT',
    path: '/dashboard/api/admin/named-services/:slug',
    body: jsonBody(NamedChange),
    reply: namedJson('NamedService', {
      slug: z.enum(namedSlugs),
      path: z.string(),
      enabled: z.boolean(),
      service_id: idOf('service').nullable(),
      plan_id: idOf('plan').nullable(),
      price: Amount.nullable().meta({ description: 'what buyers pay' }),
      advertised: z.strictObject({ min: Amount, max: Amount }),
      changed: z.boolean(),
    }),
    summary: 'configure an advertised path: own listing, alias, or plan',
  }),
}
