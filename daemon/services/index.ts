import type { PublicWeb } from '../ports/web.ts'
import { linkPreview } from './link-preview.ts'
import { qrCode } from './qr-code.ts'
import { sentimentAnalysis } from './sentiment-analysis.ts'
import type { Json, JsonInput, Service } from './service.ts'
import { summarization } from './summarization.ts'
import { urlEvidenceSnapshot } from './url-evidence-snapshot.ts'

const all: readonly Service[] = [linkPreview, qrCode, sentimentAnalysis, summarization, urlEvidenceSnapshot]

/** Every first-party service by slug: a listing of `fixtures/listings` is active only while it is in here. */
export const firstPartyServices: ReadonlyMap<string, Service> = new Map(all.map((service) => [service.slug, service]))

/** The services as the daemon runs them: each with the web at hand. */
export function firstPartyOver(web: PublicWeb) {
  return (slug: string): { run: (input: JsonInput, signal: AbortSignal) => Promise<Json> } | undefined => {
    const service = firstPartyServices.get(slug)
    return service && { run: (input, signal) => service.run(input, signal, web) }
  }
}
