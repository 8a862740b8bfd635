import { WebError } from '../../../ports/web/error.ts'
import { bestLinks, isOk, MAX_PAGES, readFirst, readFurther } from '../docs/pages.ts'
import type { JsonInput, ServiceCtx } from '../service/service.ts'
import { defineStep } from '../service/step.ts'
import { elementsOf, parseHtml } from '../web/html.ts'
import { decode, mediaType, type WebPage } from '../web/page.ts'

export type StyledPage = {
  readonly url: string
  readonly html: string
  readonly sheets: readonly string[]
  /** Number of linked style sheets that could not be fetched. */
  readonly lost: number
}

const MAX_SHEETS = 10
const MAX_SHEET_BYTES = 512 * 1024
const SHEET_MS = 5_000
const pagesIn = defineStep('style_guide.pages', (page: WebPage) => bestLinks(page, () => 1))
const sheetsIn = defineStep('style_guide.sheets', sheetsNamedIn)

/** A page and up to two linked pages of its site, with their style sheets. @throws like `readPages` */
export async function pagesWithSheets(input: JsonInput, ctx: ServiceCtx): Promise<StyledPage[]> {
  const first = await readFirst(ctx, input, { field: 'site_url' })
  const pages: WebPage[] = [first]
  const known = new Map<string, string | undefined>()
  for (const url of await ctx.elsewhere(pagesIn, first)) {
    if (pages.length === MAX_PAGES) break
    const page = await readFurther(ctx, url, 'text/html')
    if (page && mediaType(page) === 'text/html' && !pages.some((one) => one.url === page.url)) pages.push(page)
  }
  const made: StyledPage[] = []
  for (const page of pages) made.push(await withSheets(page, ctx, known))
  return made
}

async function withSheets(page: WebPage, ctx: ServiceCtx, known: Map<string, string | undefined>): Promise<StyledPage> {
  const html = decode(page)
  const urls = await ctx.elsewhere(sheetsIn, html, page.url)
  const sheets: string[] = []
  for (const url of urls) {
    if (!known.has(url)) known.set(url, known.size < MAX_SHEETS ? await sheetAt(url, ctx) : undefined)
    const sheet = known.get(url)
    if (sheet !== undefined) sheets.push(sheet)
  }
  return { url: page.url, html, sheets, lost: urls.length - sheets.length }
}

/** URLs of the style sheets that a page links, except those for print. */
function sheetsNamedIn(html: string, from: string): string[] {
  const found = new Set<string>()
  for (const { name, attribs } of elementsOf(parseHtml(html))) {
    if (name !== 'link' || !/\bstylesheet\b/i.test(attribs['rel'] ?? '')) continue
    const url = /^\s*print\b/i.test(attribs['media'] ?? '') ? null : URL.parse(attribs['href'] ?? '', from)
    if (url && /^https?:$/.test(url.protocol)) found.add(url.href)
  }
  return [...found]
}

/** Fetches a style sheet; undefined if it is not available. */
async function sheetAt(url: string, { web, signal }: ServiceCtx): Promise<string | undefined> {
  try {
    const sheet = await web.get(url, { accept: 'text/css', maxBytes: MAX_SHEET_BYTES, timeoutMs: SHEET_MS, signal })
    return isOk(sheet) && mediaType(sheet) === 'text/css' ? decode(sheet) : undefined
  } catch (error) {
    if (!(error instanceof WebError) || signal.aborted) throw error
    return undefined
  }
}
