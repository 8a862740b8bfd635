import { parse as parseName } from 'tldts'
import { AppError } from '../../../../src/core/error.ts'
import { WebError } from '../../../ports/web/error.ts'
import { fetchPage, type JsonInput, type ServiceCtx, textOf, wrongField } from '../service/service.ts'
import type { ThreadStep } from '../service/step.ts'
import { documentOf, elementsOf, textIn } from '../web/document.ts'
import { isHtml, isText, type WebPage } from '../web/page.ts'

/** Limit of bytes per page (specification, Limits). */
export const MAX_PAGE_BYTES = 1_000_000
/** Limit of pages per purchase (specification, Limits). */
export const MAX_PAGES = 3
const PAGE_TYPES = 'text/html,application/xhtml+xml,text/markdown;q=0.9,*/*;q=0.5'
const MAX_LINKS = 1_000
const MAX_URL_CHARS = 2_000
const MAX_LABEL_CHARS = 200
const OK_FROM = 200
const OK_BELOW = 300
/** Time limit of each linked page; the first page has the fetcher's full time limit. */
const FURTHER_PAGE_MS = 8_000

export type PageLink = { readonly url: string; readonly text: string }

type Wanted = {
  /** Name of the input field that holds the first page's URL. */
  readonly field: string
  readonly maxPages?: number
  /** Finds linked addresses worth reading, best first. */
  readonly links: ThreadStep<[page: WebPage], string[]>
  readonly accept?: string
}

/**
 * Reads a page and the best linked pages of its domain. An unavailable linked page is skipped.
 * @throws AppError input_invalid for a refused address, provider_failed if the first page is unavailable
 */
export async function readPages(ctx: ServiceCtx, input: JsonInput, wanted: Wanted): Promise<WebPage[]> {
  const first = await readFirst(ctx, input, wanted)
  const further = (await ctx.elsewhere(wanted.links, first)).slice(0, (wanted.maxPages ?? MAX_PAGES) - 1)
  const pages: WebPage[] = [first]
  // One page at a time, to be polite to the site.
  for (const url of further) {
    const page = await readFurther(ctx, url, wanted.accept)
    if (page && !pages.some((known) => known.url === page.url)) pages.push(page)
  }
  return pages
}

/** @throws AppError as `readPages`. */
export async function readFirst(
  ctx: ServiceCtx,
  input: JsonInput,
  wanted: Pick<Wanted, 'field' | 'accept'> & { readonly maxBytes?: number; readonly truncate?: boolean },
): Promise<WebPage> {
  const usual = { accept: PAGE_TYPES, maxBytes: MAX_PAGE_BYTES, truncate: true }
  const page = await fetchPage(ctx, input, { ...usual, ...wanted })
  if (!isOk(page)) throw new AppError('provider_failed', `The page returned status ${page.status}.`)
  if (!isText(page)) throw new AppError('provider_failed', 'The URL does not return text.')
  return page
}

/** Reads a linked page; undefined if it is unavailable. */
export async function readFurther(
  { web, signal }: Pick<ServiceCtx, 'web' | 'signal'>,
  url: string,
  accept = '*/*',
): Promise<WebPage | undefined> {
  try {
    const options = { accept, maxBytes: MAX_PAGE_BYTES, truncate: true, timeoutMs: FURTHER_PAGE_MS, signal }
    const page = await web.get(url, options)
    return isOk(page) && isText(page) ? page : undefined
  } catch (error) {
    if (!(error instanceof WebError) || signal.aborted) throw error
    return undefined
  }
}

/** Undefined without a robots.txt. Some sites answer every address with a page. */
export async function robotsOf(ctx: Pick<ServiceCtx, 'web' | 'signal'>, origin: string): Promise<WebPage | undefined> {
  const robots = await readFurther(ctx, `${origin}/robots.txt`)
  return robots && isHtml(robots) ? undefined : robots
}

export function isOk({ status }: Pick<WebPage, 'status'>): boolean {
  return status >= OK_FROM && status < OK_BELOW
}

/** Refuses an address by its text, before payment. @throws AppError input_invalid */
export function checkAddress(field: string): (input: JsonInput, ctx: { web: ServiceCtx['web'] }) => void {
  return (input, { web }) => {
    try {
      web.check(textOf(input, field).trim())
    } catch (error) {
      if (error instanceof WebError) throw wrongField(field, error.message, error)
      throw error
    }
  }
}

/** Links of a page in order, unique, without fragments. */
export function linksOf(page: WebPage): PageLink[] {
  const links = new Map<string, PageLink>()
  for (const element of elementsOf(documentOf(page))) {
    const { name, attribs } = element
    const url = name === 'a' ? URL.parse(attribs['href'] ?? '', page.url) : null
    if (!url || !/^https?:$/.test(url.protocol) || url.href.length > MAX_URL_CHARS) continue
    url.hash = ''
    if (!links.has(url.href)) links.set(url.href, { url: url.href, text: textIn(element).slice(0, MAX_LABEL_CHARS) })
    if (links.size === MAX_LINKS) break
  }
  return [...links.values()]
}

export function isSameSite(a: string, b: string): boolean {
  const [one, other] = [new URL(a), new URL(b)]
  if (one.host === other.host) return true
  const domain = parseName(one.hostname).domain
  return domain !== null && domain === parseName(other.hostname).domain && one.port === other.port
}

/** A URL without `index.html`, since `/` and `/index.html` name the same page. */
function folderOf(url: string): string {
  return url.replace(/\/index\.html?$/, '/')
}

/** Links within the site, best first. @param rank - rates a link; at 0 or less, the link is left out */
export function bestLinks(page: WebPage, rank: (link: PageLink) => number): string[] {
  const own = new URL(page.url)
  own.hash = ''
  const ranked = linksOf(page)
    .filter(({ url }) => folderOf(url) !== folderOf(own.href) && isSameSite(url, page.url))
    .map((link) => ({ url: link.url, worth: rank(link) }))
  return ranked
    .filter(({ worth }) => worth > 0)
    .sort((a, b) => b.worth - a.worth)
    .map(({ url }) => url)
}
