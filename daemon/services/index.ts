import { qrCode } from './qr-code.ts'
import type { Service } from './service.ts'

const all: readonly Service[] = [qrCode]

/** Every first-party service by slug: a listing of `fixtures/listings` is active only while it is in here. */
export const firstPartyServices: ReadonlyMap<string, Service> = new Map(all.map((service) => [service.slug, service]))
