import { qrCode } from './image/qr-code.ts'
import type { Json, JsonInput, Service } from './service.ts'
import { sentimentAnalysis } from './text/sentiment-analysis.ts'
import { summarization } from './text/summarization.ts'
import { linkPreview } from './web/link-preview.ts'
import { urlEvidenceSnapshot } from './web/url-evidence-snapshot.ts'

const all: readonly Service[] = [linkPreview, qrCode, sentimentAnalysis, summarization, urlEvidenceSnapshot]

/** Every first-party service by slug: a listing of `fixtures/listings` is active only while it is in here. */
export const firstPartyServices: ReadonlyMap<string, Service> = new Map(all.map((service) => [service.slug, service]))

/** What the service of a slug makes of an input and of what it read for it. */
export function madeBy(slug: string, input: JsonInput, source: unknown): Json | Promise<Json> {
  const service = firstPartyServices.get(slug)
  if (!service) throw new Error(`there is no service ${slug}`)
  return service.make(input, source)
}
