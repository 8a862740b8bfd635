import { parse, stringify } from 'yaml'
import { AppError } from '../../../../src/core/error.ts'
import { isObject, type Json } from '../../../../src/core/json.ts'
import { WebError } from '../../../ports/web/error.ts'
import { AUTOMATED_MS, defineService, type JsonInput, type ServiceCtx, textOf } from '../service/service.ts'
import { defineStep, type ThreadStep } from '../service/step.ts'
import { decode, type WebPage } from '../web/page.ts'
import { type Block, blocksOfPage } from './blocks.ts'
import { authOf, type Document, openapiOf, originOf } from './openapi-document.ts'
import { validityOf } from './openapi-validity.ts'
import { methods } from './operation-names.ts'
import { type ApiOperation, operationsIn, proseOf } from './operations.ts'
import { bestLinks, checkAddress, isOk, isSameSite, readPages } from './pages.ts'

const MAX_PUBLISHED_BYTES = 2_000_000
const MAX_CANDIDATES = 2
const MAX_OPERATIONS = 200
/** Operations below this confidence are left out of the document and become `open_questions`. */
const LEAST_CONFIDENCE = 0.5
const MAX_QUESTIONS = 50
/** Limit of YAML aliases, since they can multiply content. */
const MAX_ALIASES = 100

export type DocsSource = { readonly pages: readonly WebPage[]; readonly published: WebPage | undefined }

const REFERENCE = /reference|endpoint|resource|api|rest|operations/i
const referencesIn = defineStep('openapi_draft.pages', (page: WebPage) =>
  bestLinks(page, ({ url, text }) => (REFERENCE.test(`${text} ${new URL(url).pathname}`) ? 1 : 0)),
)

/** Drafts an OpenAPI description from documentation, or returns the published one. */
export const openapiDraft = defineService({
  slug: 'openapi_draft',
  timeoutMs: AUTOMATED_MS,
  check: checkAddress('docs_url'),
  read: (input, ctx) => readDocs(input, ctx, referencesIn),
  make(input, { pages, published }: DocsSource) {
    const focus = textOf(input, 'endpoint_focus').trim()
    const drafted = fromPublished(published, focus) ?? fromPages(pages, focus)
    const format = input['target_format'] === 'yaml' ? 'yaml' : 'json'
    const { document, ...facts } = drafted
    return {
      openapi_draft: {
        docs_url: textOf(input, 'docs_url').trim(),
        pages: pages.map(({ url }) => url),
        format,
        document: format === 'yaml' ? stringify(document) : JSON.stringify(document, null, 2),
        ...facts,
        ...validityOf(document),
        not_checked: ['whether the API behaves as documented'],
      },
    }
  },
})

/** Reads documentation, and the OpenAPI description that it links to, if any. */
export async function readDocs(
  input: JsonInput,
  ctx: ServiceCtx,
  links: ThreadStep<[page: WebPage], string[]>,
): Promise<DocsSource> {
  const pages = await readPages(ctx, input, { field: 'docs_url', links })
  const [first] = pages
  return { pages, published: first && (await publishedBy(ctx, first)) }
}

const PUBLISHED =
  /["'(=\s>]((?:https?:\/\/|\.{0,2}\/)?[\w./%:@-]{0,300}(?:openapi|swagger|api-docs)[\w./-]{0,80}\.(?:json|ya?ml))\b/gi

/** URLs on the same site that look like OpenAPI descriptions. */
const candidatesIn = defineStep('openapi_draft.candidates', (page: WebPage) => {
  const found = new Set<string>()
  for (const [, href = ''] of decode(page).matchAll(PUBLISHED)) {
    const url = URL.parse(href, page.url)
    if (url && isSameSite(url.href, page.url)) found.add(url.href)
    if (found.size === MAX_CANDIDATES) break
  }
  return [...found]
})

async function publishedBy({ web, signal, elsewhere }: ServiceCtx, page: WebPage): Promise<WebPage | undefined> {
  if (isDescription(page)) return page
  for (const url of await elsewhere(candidatesIn, page)) {
    try {
      const answer = await web.get(url, { maxBytes: MAX_PUBLISHED_BYTES, signal, timeoutMs: 8_000 })
      if (isOk(answer) && isDescription(answer)) return answer
    } catch (error) {
      if (!(error instanceof WebError) || signal.aborted) throw error
    }
  }
  return undefined
}

const BEGINNING_BYTES = 4_096

function isDescription({ body }: Pick<WebPage, 'body'>): boolean {
  const start = Buffer.from(body.subarray(0, BEGINNING_BYTES)).toString('utf8')
  return /^\s*[{\w"#-]/.test(start) && /(^|[{,\s])"?(openapi|swagger)"?\s*:\s*["']?[23]\.\d/m.test(start)
}

type Drafted = {
  readonly document: Document
  readonly openapi: string
  readonly operations: number
  readonly source: 'published' | 'documentation'
  readonly confidence: number
  readonly operations_index: Json[]
  readonly open_questions: string[]
}

type Published = { paths?: { [path: string]: { [method: string]: unknown } }; openapi?: unknown; swagger?: unknown }

/** Result from a published description, which is more reliable than prose; undefined without a usable description. */
function fromPublished(page: WebPage | undefined, focus: string): Drafted | undefined {
  const described = page && describedBy(page)
  if (!described) return undefined
  const { parsed, version, paths } = described
  const kept = Object.entries(paths).filter(([path]) => suits(focus, path))
  const entries = (kept.length > 0 ? kept : Object.entries(paths)).slice(0, MAX_OPERATIONS)
  const index = entries.flatMap(([path, item]) =>
    methodsOf(item).map((method) => ({ method, path, confidence: 1, evidence: page.url })),
  )
  if (index.length === 0) return undefined
  const document = { ...(parsed as Document), paths: Object.fromEntries(entries) as Document } // parsed from JSON or YAML
  return {
    document,
    openapi: version,
    operations: index.length,
    source: 'published',
    confidence: 1,
    operations_index: index,
    open_questions: [],
  }
}

/** Parsed OpenAPI description; undefined if the page is not one. */
function describedBy(page: WebPage) {
  const parsed = parsedOf(page)
  const version = parsed?.openapi ?? parsed?.swagger
  const paths = parsed?.paths
  return parsed && typeof version === 'string' && isObject(paths) ? { parsed, version, paths } : undefined
}

function methodsOf(item: unknown) {
  return methods.filter((method) => isObject(item) && Object.hasOwn(item, method.toLowerCase()))
}

/** Reads the operations and their summaries from a published OpenAPI description. */
export function publishedOperations(page: WebPage) {
  const paths = Object.entries(describedBy(page)?.paths ?? {}).slice(0, MAX_OPERATIONS)
  return paths.flatMap(([path, item]) =>
    methodsOf(item).map((method) => {
      const told = isObject(item) ? item[method.toLowerCase()] : undefined
      const words = isObject(told) ? [told['summary'], told['description'], told['operationId']] : []
      return { method, path, summary: words.filter((word) => typeof word === 'string').join(' ') }
    }),
  )
}

function parsedOf(page: WebPage): Published | undefined {
  try {
    const parsed: unknown = parse(decode(page), { maxAliasCount: MAX_ALIASES })
    return typeof parsed === 'object' && parsed !== null ? (JSON.parse(JSON.stringify(parsed)) as Published) : undefined // read member by member
  } catch {
    return undefined // not valid YAML or JSON
  }
}

function fromPages(pages: readonly WebPage[], focus: string): Drafted {
  const blocks = pages.flatMap(blocksOfPage)
  const prose = proseOf(blocks)
  const all = operationsIn(blocks)
  const focused = all.filter(({ path, summary }) => suits(focus, `${path} ${summary}`))
  const chosen = focused.length > 0 ? focused : all
  const sure = chosen.filter(({ confidence }) => confidence >= LEAST_CONFIDENCE)
  if (sure.length === 0) throw new AppError('provider_failed', 'No endpoints were found in the documentation.')
  const origin = originOf(prose, sure)
  const document = openapiOf({ title: titleOf(blocks), origin, operations: sure, prose })
  return {
    document,
    openapi: '3.1.0',
    operations: sure.length,
    source: 'documentation',
    confidence: Math.round((sure.reduce((sum, { confidence }) => sum + confidence, 0) / sure.length) * 100) / 100,
    operations_index: sure.map(({ method, path, confidence, evidence }) => ({ method, path, confidence, evidence })),
    open_questions: questionsOf({ sure, unsure: chosen.filter((one) => !sure.includes(one)), origin, prose }),
  }
}

function titleOf(blocks: readonly Block[]): string {
  const headings = blocks.filter((block) => block.kind === 'heading')
  return (headings.find(({ level }) => level === 1) ?? headings[0])?.text || 'Untitled interface'
}

type Unknowns = {
  readonly sure: readonly ApiOperation[]
  readonly unsure: readonly ApiOperation[]
  readonly origin: string | null
  readonly prose: string
}

function questionsOf({ sure, unsure, origin, prose }: Unknowns): string[] {
  const undescribed = sure.filter(({ responses }) => responses.size === 0)
  const withoutBody = sure.filter(
    ({ method, request, parameters }) =>
      /^(POST|PUT|PATCH)$/.test(method) && request === undefined && !parameters.some((one) => one.in === 'body'),
  )
  return [
    ...(origin === null ? ['What is the base URL?'] : []),
    ...(authOf(prose) ? [] : ['How do callers authenticate?']),
    ...unsure.map(({ method, path }) => `Is ${method} ${path} an operation?`),
    ...withoutBody.map(({ method, path }) => `What is the request body of ${method} ${path}?`),
    ...undescribed.map(({ method, path }) => `What does ${method} ${path} return?`),
  ].slice(0, MAX_QUESTIONS)
}

/** Whether a text contains a path or word of the buyer's focus; true without a focus. */
export function suits(focus: string, text: string): boolean {
  if (focus === '') return true
  const plain = text.toLowerCase()
  const words = focus.toLowerCase().match(/\/[\w{}/.-]+|[\p{L}\p{N}]{3,}/gu) ?? []
  return words.some((word) => plain.includes(word.replace(/s$/, '')))
}
