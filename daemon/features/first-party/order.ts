/** Order in which first-party listings are shown: by group, and within a group as in the specification. */
export const houseOrder = [
  // web
  'page_screenshot',
  'link_preview',
  'accessibility_audit',
  'performance_analysis',
  'page_quality_audit',
  // marketing, design
  'seo_audit',
  'style_guide',
  // documents, images
  'pdf_generation',
  'qr_code',
  // text
  'summarization',
  'sentiment_analysis',
  'translation',
  // audio
  'text_to_speech',
  'audio_loudness_normalization',
  // data
  'structured_web_extraction',
  'weather',
  'website_research_context',
  'url_evidence_snapshot',
  'tls_security_evidence',
  // security
  'tls_audit',
  'certificate_check',
  'dependency_vulnerability_audit',
  // infrastructure
  'dns_health_audit',
  'domain_availability',
  // developer
  'openapi_draft',
  'api_integration_readiness',
  'api_changelog_actions',
  // finance
  'stock_data',
  'crypto_price',
  // funding
  'grant_matches',
  'grant_eligibility_brief',
  'grant_application_checklist',
] as const
