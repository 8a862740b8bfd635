import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { functionWords } from '../service/english.ts'
import { AUTOMATED_MS, defineService, textOf, wrongField } from '../service/service.ts'
import { defineStep } from '../service/step.ts'
import type { WebPage } from '../web/page.ts'
import { type DocsSource, readDocs } from './openapi-draft.ts'
import { bestLinks, checkAddress } from './pages.ts'
import {
  beginningOf,
  isOffered,
  linesOf,
  MAX_QUOTE_CHARS,
  type Operation,
  offerOf,
  operationsOf,
  type QuotedAt,
  type SaidLine,
} from './readiness-evidence.ts'

const MAX_ENDPOINTS = 20
const WHOLE = 100
/** A page without endpoints is API documentation only if it has one of these areas. */
const ofInterfaces = ['base_url', 'auth']

type Area = {
  readonly id: string
  readonly text: string
  readonly signs: RegExp
  readonly weight: number
  /** A use case that matches this pattern requires the area. Without a pattern, every use case requires it. */
  readonly neededBy?: RegExp
  /** The documentation must affirm this area. For any other area, a denial such as "none" counts as documented. */
  readonly isThing?: true
  readonly risk: string
}

const areas: readonly Area[] = [
  {
    id: 'base_url',
    text: 'Base address',
    signs:
      /https:\/\/api\.|base (url|address)|(?:\bendpoints?\b|\bcurl\b)[^\n]{0,80}https?:\/\/(?!127\.|localhost)|https?:\/\/(?!127\.|localhost)[^\s]{1,300}\/(?:v\d|api\b)(?!\/webhooks)/i,
    weight: 6,
    risk: 'The base URL of the API is unknown.',
  },
  {
    id: 'auth',
    text: 'Authentication',
    signs:
      /\b(bearer|oauth\w*|api[- ]?key|x-[\w-]{0,60}key|basic auth\w*|access token|(?<!\badd )authenticat\w+)\b(?!["']?\s*:\s*null)|scheme["']?\s*:\s*["']?basic\b/i,
    weight: 15,
    risk: 'The authentication method is unknown.',
  },
  {
    id: 'examples',
    text: 'Example requests and responses',
    signs: /\bcurl\b|"\w+"\s*:\s*|\bHTTP\/1\.1 \d{3}/,
    weight: 8,
    risk: 'You must guess request and response formats.',
  },
  {
    id: 'errors',
    text: 'Errors',
    signs:
      /\b(error (code|response|object|message)s?|4\d\d\b[^.\n]{0,40}(bad request|unauthorized|not found|error|invalid))|^\s*["']?4\d\d["']?\s*:/i,
    weight: 9,
    risk: 'Error responses cannot be distinguished.',
  },
  {
    id: 'limits',
    text: 'Rate limits',
    signs: /\b(rate[- ]limit\w*|requests per (second|minute|hour|day)|429|throttl\w+|quota)\b/i,
    weight: 8,
    risk: 'Requests may be rejected without warning.',
  },
  {
    id: 'pagination',
    text: 'Pagination',
    isThing: true,
    signs: /\b(paginat\w+|next_?(page|cursor|token)|page_?(size|token)|cursor|per_page|offset=)\b/i,
    weight: 5,
    neededBy: /\b(sync|all|list|export|import|every|bulk|history|report)\b/i,
    risk: 'Long lists may be truncated.',
  },
  {
    id: 'versioning',
    text: 'Versions and deprecation',
    signs:
      /\b(api[- ]version\w*|versioning|changelog)|\/v\d+\/|\bdeprecat\w+\b[^.\n]{0,60}\b(api|endpoint|version|field|parameter|header|method)s?\b|\b(api|endpoint|version|field|parameter|header|method)s?\b[^.\n]{0,60}\bdeprecat\w+/i,
    weight: 5,
    risk: 'Changes may come without notice.',
  },
  {
    id: 'idempotency',
    text: 'Safe retries',
    isThing: true,
    signs: /\bidempoten\w+/i,
    weight: 7,
    neededBy: /\b(pay|payment|charge|order|book|invoice|transfer|refund|create|checkout)\w*/i,
    risk: 'A retried request may take effect twice.',
  },
  {
    id: 'webhooks',
    text: 'Webhooks',
    isThing: true,
    signs:
      /\bwebhooks?\b|\bcallback url\b|\bevent (notification|subscription)s?\b|\bsubscri(?:be|bing|ptions?) (?:to|on)\b[^.\n]{0,40}\b(?:changes?|events?|updates?)\b/i,
    weight: 7,
    neededBy: /\b(receive|notif\w+|told|react|event|alert|real[- ]?time|status change)\b/i,
    risk: 'You must poll for changes.',
  },
  {
    id: 'sandbox',
    text: 'Sandbox',
    isThing: true,
    signs: /\b(sandbox|test mode|test (key|environment|account)s?|staging)\b/i,
    weight: 4,
    risk: 'Tests need real data.',
  },
  {
    id: 'status',
    text: 'Status and service level',
    signs:
      /\b(status page|service level|sla\b|incidents?\b)|\buptime\b[^\n]{0,40}(%|guarant|commit)|\d\s?%[^\n]{0,20}\buptime\b/i,
    weight: 3,
    neededBy: /\b(production|critical|customer|availability)\b/i,
    risk: 'The reliability of the API is unknown.',
  },
  {
    id: 'terms',
    text: 'Terms of use',
    signs:
      /\b((?:our|these|api) terms|terms (of (use|service)|and conditions|apply)|acceptable use|(api|data) licen[cs]e|pricing)\b/i,
    weight: 3,
    risk: 'Permitted use is unknown.',
  },
]

const topics = [/auth/i, /limit/i, /error/i, /webhook/i, /reference|endpoint/i, /changelog|version/i, /sandbox|test/i]
const pagesIn = defineStep('api_integration_readiness.pages', (page: WebPage) =>
  bestLinks(page, ({ text, url }) => {
    const at = topics.findIndex((words) => words.test(`${text} ${new URL(url).pathname}`))
    return at < 0 ? 0 : topics.length - at
  }),
)

/** Checks whether documentation covers what an integration needs, with a quote or a gap for each requirement. */
export const apiIntegrationReadiness = defineService({
  slug: 'api_integration_readiness',
  timeoutMs: AUTOMATED_MS,
  check(input, ctx) {
    checkAddress('docs_url')(input, ctx)
    if (textOf(input, 'use_case').trim() === '') throw wrongField('use_case', 'is empty')
  },
  read: async (input, ctx) => ({ docs: await readDocs(input, ctx, pagesIn), at: ctx.now() }),
  make(input, { docs, at }: { docs: DocsSource; at: number }): Json {
    const useCase = textOf(input, 'use_case')
    const stack = textOf(input, 'target_stack').trim()
    const lines = linesOf(docs)
    const operations = operationsOf(docs)
    const endpoints = relevant(operations, useCase)
    const requirements = [
      ...areas.map((area) => requirementOf(area, { lines, useCase })),
      endpointRequirement(endpoints, operations),
      clientRequirement({ lines, stack, docs }),
    ]
    const needed = requirements.filter((one) => one.needed)
    if (
      operations.length === 0 &&
      !requirements.some(({ area, evidence }) => evidence && ofInterfaces.includes(area))
    ) {
      throw new AppError(
        'provider_failed',
        'The page is not API documentation: no endpoint, authentication or other API topic was found.',
      )
    }
    const open = needed.filter(({ status }) => status !== 'found')
    const found = needed.filter(({ status }) => status === 'found')
    return {
      api_integration_readiness: {
        docs_url: textOf(input, 'docs_url').trim(),
        pages: docs.pages.map(({ url }) => url),
        use_case: useCase,
        target_stack: stack === '' ? null : stack,
        readiness: readinessOf(open.map(({ area }) => area)),
        score: scoreOf(found, needed),
        requirements: requirements.map(({ weight: _, risk: __, ...shown }) => shown),
        gaps: open.map(gapOf),
        risks: requirements.filter(({ status }) => status === 'missing').map(({ risk }) => risk),
        endpoints: endpoints.map(({ method, path, relevance }) => ({ method, path, relevance })),
        next_steps: open.map(({ text, evidence }) =>
          evidence
            ? `Ask the provider whether this applies to you: ${text.toLowerCase()}.`
            : `Ask the provider about: ${text.toLowerCase()}.`,
        ),
        not_checked: ['whether the API behaves as documented', 'pages beyond the first three'],
        fetched_at: new Date(at).toISOString(),
      },
    }
  },
})

type Requirement = {
  readonly area: string
  readonly text: string
  readonly status: 'found' | 'missing' | 'unclear'
  readonly needed: boolean
  readonly weight: number
  readonly evidence?: QuotedAt
  readonly risk: string
}

function requirementOf(
  { id, text, signs, weight, neededBy, isThing, risk }: Area,
  { lines, useCase }: { lines: readonly SaidLine[]; useCase: string },
): Requirement {
  const offer = offerOf(lines, signs, { isThing: isThing ?? false })
  return {
    area: id,
    text,
    status: offer.status,
    needed: neededBy === undefined || neededBy.test(useCase),
    weight,
    ...(offer.evidence ? { evidence: offer.evidence } : {}),
    risk,
  }
}

function gapOf({ text, status, evidence, area }: Requirement): string {
  if (area === 'endpoints' && status === 'unclear')
    return `${text}: no documented endpoint matches the words of the use case.`
  if (status === 'unclear') return `${text}: mentioned in the documentation, but unclear whether it is supported.`
  return evidence ? `${text}: not supported, according to the documentation.` : `${text}: not documented.`
}

const common = new Set([...functionWords, ...'using need want able integration system data'.split(' ')])

type Endpoint = Operation & { readonly relevance: number }

function relevant(operations: readonly Operation[], useCase: string): Endpoint[] {
  const words = [...new Set(useCase.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [])]
    .filter((word) => !common.has(word))
    .map((word) => word.replace(/(ies|ing|ed|es|s)$/, ''))
  const scored = operations.map((operation) => {
    const text = `${operation.path} ${operation.summary}`.toLowerCase()
    const hits = words.filter((word) => text.includes(word)).length
    return { ...operation, relevance: words.length === 0 ? 0 : Math.round((hits / words.length) * WHOLE) / WHOLE }
  })
  return scored
    .filter(({ relevance }) => relevance > 0)
    .sort((a, b) => b.relevance - a.relevance)
    .slice(0, MAX_ENDPOINTS)
}

function endpointRequirement([best]: readonly Endpoint[], operations: readonly Operation[]): Requirement {
  const seen = operations.length > 0 ? 'unclear' : 'missing'
  return {
    area: 'endpoints',
    text: 'Endpoints for the use case',
    status: best ? 'found' : seen,
    needed: true,
    weight: 20,
    ...(best ? { evidence: best.evidence } : {}),
    risk: 'No endpoint matches the words of the use case.',
  }
}

const SDK = /\b(sdks?|client librar\w+|(?:api|official) clients?|package)\b/i

function clientRequirement({
  lines,
  stack,
  docs,
}: {
  lines: readonly SaidLine[]
  stack: string
  docs: DocsSource
}): Requirement {
  const words = stack.toLowerCase().match(/[\p{L}\p{N}+#.]{2,}/gu) ?? []
  const named = (text: string) => words.length === 0 || words.some((word) => text.toLowerCase().includes(word))
  const line = lines.find(({ text }) => SDK.test(text) && named(text) && isOffered(text, SDK))
  const described = docs.published && { quote: beginningOf(docs.published), url: docs.published.url }
  const evidence = line ? { quote: line.text.slice(0, MAX_QUOTE_CHARS).toWellFormed(), url: line.url } : described
  return {
    area: 'sdk',
    text: 'Library or machine-readable description',
    status: evidence ? 'found' : 'missing',
    needed: stack !== '',
    weight: 5,
    ...(evidence ? { evidence } : {}),
    risk: 'You must write the client by hand.',
  }
}

/** Without documented authentication or endpoints, an integration is blocked. */
function readinessOf(open: readonly string[]): 'ready' | 'partial' | 'blocked' {
  if (open.includes('auth') || open.includes('endpoints')) return 'blocked'
  return open.length === 0 ? 'ready' : 'partial'
}

function scoreOf(found: readonly Requirement[], needed: readonly Requirement[]): number {
  const sum = (list: readonly Requirement[]) => list.reduce((total, { weight }) => total + weight, 0)
  return Math.round((WHOLE * sum(found)) / Math.max(1, sum(needed)))
}
