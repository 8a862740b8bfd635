import { type Usdc, usdc } from '../core/money.ts'
import { defineEndpoint, jsonBody, paid } from './endpoint.ts'
import { purchaseService } from './services.ts'

const dollars = (amount: bigint): Usdc => usdc(amount * 1_000_000n)

/** Paths that the marketing site advertises, with the range of their price, ends included (specification, Discovery). */
export const namedServices = {
  'site-audit': { min: dollars(5n), max: dollars(5n) },
  'security-patch': { min: dollars(10n), max: dollars(10n) },
  'content-write': { min: dollars(25n), max: dollars(100n) },
  'seo-optimize': { min: dollars(15n), max: dollars(50n) },
  'design-update': { min: dollars(50n), max: dollars(200n) },
  'maintenance-plan': { min: dollars(50n), max: dollars(200n) },
} as const satisfies Record<string, { min: Usdc; max: Usdc }>
export type NamedService = keyof typeof namedServices

export const namedSlugs = Object.keys(namedServices) as [NamedService, ...NamedService[]]

/** An alias of the listing that the operator configured for the path; built but switched off. */
const alias = {
  method: 'POST',
  access: paid('varies', { bundled: true }),
  section: 'Named services (advertised, absent from the health listing)',
  body: jsonBody(purchaseService.body.schema),
  reply: purchaseService.reply,
  errors: purchaseService.errors,
  summary: 'named service',
} as const

export const siteAudit = defineEndpoint({ ...alias, path: '/v1/services/site-audit', switch: 'site-audit' })
export const securityPatch = defineEndpoint({ ...alias, path: '/v1/services/security-patch', switch: 'security-patch' })
export const contentWrite = defineEndpoint({ ...alias, path: '/v1/services/content-write', switch: 'content-write' })
export const seoOptimize = defineEndpoint({ ...alias, path: '/v1/services/seo-optimize', switch: 'seo-optimize' })
export const designUpdate = defineEndpoint({ ...alias, path: '/v1/services/design-update', switch: 'design-update' })
export const maintenancePlan = defineEndpoint({
  ...alias,
  path: '/v1/services/maintenance-plan',
  switch: 'maintenance-plan',
})
