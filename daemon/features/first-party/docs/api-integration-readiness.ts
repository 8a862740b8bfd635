import type { Json } from '../../../../src/core/json.ts'
import { defineService, textOf } from '../service/service.ts'
import { blocksOfPage, textOfBlock } from './blocks.ts'
import { type DocsSource, readDocs } from './openapi-draft.ts'
import { type ApiOperation, operationsIn } from './operations.ts'
import { checkAddress } from './pages.ts'

const AUTOMATED_MS = 120_000
const MAX_QUOTE_CHARS = 300
const MAX_ENDPOINTS = 20
const WHOLE = 100

type Area = {
  readonly id: string
  readonly text: string
  readonly signs: RegExp
  readonly weight: number
  /** Words of a use case that make it needed; always needed without. */
  readonly neededBy?: RegExp
  readonly risk: string
}

const areas: readonly Area[] = [
  {
    id: 'base_url',
    text: 'Base address',
    signs: /https:\/\/api\.|base (url|address)|https?:\/\/[^\s]+\/v\d/i,
    weight: 6,
    risk: 'Nothing says where requests go.',
  },
  {
    id: 'auth',
    text: 'Authentication',
    signs: /\b(bearer|oauth|api[- ]key|x-[\w-]*key|basic auth\w*|access token|authenticat\w+)\b/i,
    weight: 15,
    risk: 'Nothing says how callers authenticate.',
  },
  {
    id: 'examples',
    text: 'Examples of requests and answers',
    signs: /\bcurl\b|"\w+"\s*:\s*|\bHTTP\/1\.1 \d{3}/,
    weight: 8,
    risk: 'Without examples, shapes have to be guessed.',
  },
  {
    id: 'errors',
    text: 'Errors',
    signs:
      /\b(error (code|response|object|message)s?|4\d\d\b[^.\n]{0,40}(bad request|unauthorized|not found|error|invalid))/i,
    weight: 9,
    risk: 'Failures cannot be told apart.',
  },
  {
    id: 'limits',
    text: 'Rate limits',
    signs: /\b(rate[- ]limit\w*|requests per (second|minute|hour|day)|429|throttl\w+|quota)\b/i,
    weight: 8,
    risk: 'Calls may be cut off without warning.',
  },
  {
    id: 'pagination',
    text: 'Pagination',
    signs: /\b(paginat\w+|next_?(page|cursor|token)|page_?(size|token)|cursor|per_page|offset=)\b/i,
    weight: 5,
    neededBy: /\b(sync|all|list|export|import|every|bulk|history|report)\b/i,
    risk: 'Long lists may come in part only.',
  },
  {
    id: 'versioning',
    text: 'Versions and deprecation',
    signs: /\b(api[- ]version\w*|versioning|deprecat\w+|changelog|\/v\d+\/)/i,
    weight: 5,
    risk: 'Changes may come without notice.',
  },
  {
    id: 'idempotency',
    text: 'Safe retries',
    signs: /\bidempoten\w+/i,
    weight: 7,
    neededBy: /\b(pay|payment|charge|order|book|invoice|transfer|refund|create|checkout)\w*/i,
    risk: 'A retry may do things twice.',
  },
  {
    id: 'webhooks',
    text: 'Webhooks',
    signs: /\bwebhooks?\b|\bcallback url\b|\bevent (notification|subscription)s?\b/i,
    weight: 7,
    neededBy: /\b(receive|notif\w+|react|event|alert|real[- ]?time|status change)\b/i,
    risk: 'Changes have to be asked for again and again.',
  },
  {
    id: 'sandbox',
    text: 'Sandbox',
    signs: /\b(sandbox|test mode|test (key|environment|account)s?|staging)\b/i,
    weight: 4,
    risk: 'It can be tried with real data only.',
  },
  {
    id: 'status',
    text: 'Status and service level',
    signs: /\b(status page|uptime|service level|sla\b|incident)/i,
    weight: 3,
    neededBy: /\b(production|critical|customer|availability)\b/i,
    risk: 'Nobody says how reliable it is.',
  },
  {
    id: 'terms',
    text: 'Terms of use',
    signs: /\b(terms (of (use|service))?|acceptable use|licen[cs]e|pricing)\b/i,
    weight: 3,
    risk: 'What use is allowed is not said.',
  },
]

/** Whether documentation says what an integration for a use case needs, each with its words or as a gap. */
export const apiIntegrationReadiness = defineService({
  slug: 'api_integration_readiness',
  timeoutMs: AUTOMATED_MS,
  check: checkAddress('docs_url'),
  async read(input, ctx) {
    const rank = ({ text, url }: { text: string; url: string }) =>
      [/auth/i, /limit/i, /error/i, /webhook/i, /reference|endpoint/i, /changelog|version/i, /sandbox|test/i].findIndex(
        (words) => words.test(`${text} ${new URL(url).pathname}`),
      ) + 1
    return { docs: await readDocs(input, ctx, (link) => (rank(link) === 0 ? 0 : WHOLE - rank(link))), at: ctx.now() }
  },
  make(input, { docs, at }: { docs: DocsSource; at: number }): Json {
    const useCase = textOf(input, 'use_case')
    const stack = textOf(input, 'target_stack').trim()
    const lines = linesOf(docs)
    const operations = operationsIn(docs.pages.flatMap(blocksOfPage))
    const endpoints = relevant(operations, useCase)
    const requirements = [
      ...areas.map((area) => requirementOf(area, { lines, useCase })),
      endpointRequirement(endpoints, operations),
      clientRequirement({ lines, stack, docs }),
    ]
    const needed = requirements.filter((one) => one.needed)
    const missing = needed.filter(({ status }) => status === 'missing')
    const found = needed.filter(({ status }) => status === 'found')
    return {
      api_integration_readiness: {
        docs_url: textOf(input, 'docs_url').trim(),
        pages: docs.pages.map(({ url }) => url),
        use_case: useCase,
        target_stack: stack === '' ? null : stack,
        readiness: readinessOf(missing.map(({ area }) => area)),
        score: scoreOf(found, needed),
        requirements: requirements.map(({ area, text, status, needed, evidence }) => ({
          area,
          text,
          status,
          needed,
          ...(evidence ? { evidence } : {}),
        })),
        gaps: missing.map(({ text }) => `${text}: the documentation does not say.`),
        risks: requirements.filter(({ status }) => status === 'missing').map(({ risk }) => risk),
        endpoints,
        next_steps: missing.map(({ text }) => `Ask the provider about: ${text.toLowerCase()}.`),
        not_checked: ['whether the interface behaves as its documentation says', 'pages beyond the first three'],
        fetched_at: new Date(at).toISOString(),
      },
    }
  },
})

type Line = { readonly text: string; readonly url: string }

function linesOf({ pages, published }: DocsSource): Line[] {
  const read = pages.flatMap((page) =>
    blocksOfPage(page).flatMap((block) =>
      textOfBlock(block)
        .split('\n')
        .map((text) => ({ text, url: page.url })),
    ),
  )
  return published ? [...read, { text: 'openapi', url: published.url }] : read
}

type Requirement = {
  readonly area: string
  readonly text: string
  readonly status: 'found' | 'missing' | 'unclear'
  readonly needed: boolean
  readonly weight: number
  readonly evidence?: { quote: string; url: string }
  readonly risk: string
}

function requirementOf(
  { id, text, signs, weight, neededBy, risk }: Area,
  { lines, useCase }: { lines: readonly Line[]; useCase: string },
): Requirement {
  const line = lines.find((one) => signs.test(one.text))
  return {
    area: id,
    text,
    status: line ? 'found' : 'missing',
    needed: neededBy === undefined || neededBy.test(useCase),
    weight,
    ...(line ? { evidence: { quote: quoted(line.text, signs), url: line.url } } : {}),
    risk,
  }
}

/** As it stands there, around what was found. */
function quoted(text: string, signs: RegExp): string {
  const at = signs.exec(text)?.index ?? 0
  const start = Math.max(0, at - MAX_QUOTE_CHARS / 2)
  return text.slice(start, start + MAX_QUOTE_CHARS).toWellFormed()
}

const common = new Set(
  'the and for with from that this into our their when which have will each every about should them they your using need want able integration system data'.split(
    ' ',
  ),
)

function relevant(
  operations: readonly ApiOperation[],
  useCase: string,
): { method: string; path: string; relevance: number }[] {
  const words = [...new Set(useCase.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [])]
    .filter((word) => !common.has(word))
    .map(stem)
  const scored = operations.map(({ method, path, summary }) => {
    const text = `${path} ${summary}`.toLowerCase()
    const hits = words.filter((word) => text.includes(word)).length
    return { method, path, relevance: words.length === 0 ? 0 : Math.round((hits / words.length) * WHOLE) / WHOLE }
  })
  return scored
    .filter(({ relevance }) => relevance > 0)
    .sort((a, b) => b.relevance - a.relevance)
    .slice(0, MAX_ENDPOINTS)
}

function stem(word: string): string {
  return word.replace(/(ies|ing|ed|es|s)$/, '')
}

function endpointRequirement(
  endpoints: readonly { method: string; path: string }[],
  operations: readonly ApiOperation[],
): Requirement {
  const [best] = endpoints
  const operation = best && operations.find(({ method, path }) => method === best.method && path === best.path)
  const seen = operations.length > 0 ? 'unclear' : 'missing'
  return {
    area: 'endpoints',
    text: 'Endpoints for the use case',
    status: operation ? 'found' : seen,
    needed: true,
    weight: 20,
    ...(operation ? { evidence: { quote: operation.evidence, url: '' } } : {}),
    risk: 'No endpoint was found that fits the use case by its words.',
  }
}

function clientRequirement({
  lines,
  stack,
  docs,
}: {
  lines: readonly Line[]
  stack: string
  docs: DocsSource
}): Requirement {
  const words = stack.toLowerCase().match(/[\p{L}\p{N}+#.]{2,}/gu) ?? []
  const line = lines.find(
    ({ text }) =>
      /\b(sdk|client librar\w+|package)\b/i.test(text) &&
      (words.length === 0 || words.some((word) => text.toLowerCase().includes(word))),
  )
  const described = docs.published && { quote: 'a published OpenAPI description', url: docs.published.url }
  const evidence = line ? { quote: line.text.slice(0, MAX_QUOTE_CHARS).toWellFormed(), url: line.url } : described
  return {
    area: 'sdk',
    text: 'Library or machine-readable description',
    status: evidence ? 'found' : 'missing',
    needed: stack !== '',
    weight: 5,
    ...(evidence ? { evidence } : {}),
    risk: 'A client has to be written by hand.',
  }
}

function readinessOf(missing: readonly string[]): 'ready' | 'partial' | 'blocked' {
  if (missing.includes('auth') || missing.includes('endpoints')) return 'blocked'
  return missing.length === 0 ? 'ready' : 'partial'
}

function scoreOf(found: readonly Requirement[], needed: readonly Requirement[]): number {
  const sum = (list: readonly Requirement[]) => list.reduce((total, { weight }) => total + weight, 0)
  return Math.round((WHOLE * sum(found)) / Math.max(1, sum(needed)))
}
