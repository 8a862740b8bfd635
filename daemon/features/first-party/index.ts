import type { Json } from '../../../src/core/json.ts'
import { audioLoudnessNormalization } from './audio/audio-loudness-normalization.ts'
import { textToSpeech } from './audio/text-to-speech.ts'
import { accessibilityAudit } from './browser/accessibility-audit.ts'
import { pageQualityAudit } from './browser/page-quality-audit.ts'
import { pageScreenshot } from './browser/page-screenshot.ts'
import { pdfGeneration } from './browser/pdf-generation.ts'
import { performanceAnalysis } from './browser/performance-analysis.ts'
import { styleGuide } from './browser/style-guide.ts'
import { cryptoPrice } from './data/crypto-price.ts'
import { dependencyVulnerabilityAudit } from './data/dependency-vulnerability-audit.ts'
import { stockData } from './data/stock-data.ts'
import { weather } from './data/weather.ts'
import { apiChangelogActions } from './docs/api-changelog-actions.ts'
import { apiIntegrationReadiness } from './docs/api-integration-readiness.ts'
import { openapiDraft } from './docs/openapi-draft.ts'
import { seoAudit } from './docs/seo-audit.ts'
import { websiteResearchContext } from './docs/website-research-context.ts'
import { structuredWebExtraction } from './extraction/structured-web-extraction.ts'
import { grantApplicationChecklist } from './funding/grant-application-checklist.ts'
import { grantEligibilityBrief } from './funding/grant-eligibility-brief.ts'
import { grantMatches } from './funding/grant-matches.ts'
import { qrCode } from './image/qr-code.ts'
import { certificateCheck } from './net/certificate-check.ts'
import { dnsHealthAudit } from './net/dns-health-audit.ts'
import { domainAvailability } from './net/domain-availability.ts'
import { tlsAudit } from './net/tls-audit.ts'
import { tlsSecurityEvidence } from './net/tls-security-evidence.ts'
import type { FirstPartyService, JsonInput } from './service/service.ts'
import { sentimentAnalysis } from './text/sentiment-analysis.ts'
import { summarization } from './text/summarization.ts'
import { translation } from './text/translation.ts'
import { linkPreview } from './web/link-preview.ts'
import { urlEvidenceSnapshot } from './web/url-evidence-snapshot.ts'

const all: readonly FirstPartyService[] = [
  accessibilityAudit,
  apiChangelogActions,
  apiIntegrationReadiness,
  audioLoudnessNormalization,
  certificateCheck,
  cryptoPrice,
  dependencyVulnerabilityAudit,
  dnsHealthAudit,
  domainAvailability,
  grantApplicationChecklist,
  grantEligibilityBrief,
  grantMatches,
  linkPreview,
  openapiDraft,
  pageQualityAudit,
  pageScreenshot,
  pdfGeneration,
  performanceAnalysis,
  qrCode,
  sentimentAnalysis,
  seoAudit,
  stockData,
  styleGuide,
  structuredWebExtraction,
  summarization,
  textToSpeech,
  tlsAudit,
  tlsSecurityEvidence,
  translation,
  urlEvidenceSnapshot,
  weather,
  websiteResearchContext,
]

/** All first-party services by slug; a listing of `fixtures/listings` is active only if its service is here. */
export const firstPartyServices: ReadonlyMap<string, FirstPartyService> = new Map(
  all.map((service) => [service.slug, service]),
)

/** Computes a service's deliverable; `source` is what the service has read. */
export function madeBy(slug: string, input: JsonInput, source: unknown): Json | Promise<Json> {
  const service = firstPartyServices.get(slug)
  if (!service) throw new Error(`unknown service ${slug}`)
  return service.make(input, source)
}
