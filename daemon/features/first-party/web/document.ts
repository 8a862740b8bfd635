import { load } from 'cheerio/slim'
import MarkdownIt from 'markdown-it'
import { decode, isHtml, type WebPage } from './page.ts'

/** Longer Markdown is cut off: parsing this much takes three seconds. Changelogs begin with the newest entries. */
const MAX_MARKDOWN_CHARS = 300_000

/** Names of HTML elements in Markdown. Other names in angle brackets, such as `<id>`, are placeholders. */
const elements = new Set(
  `a abbr article aside b bdi bdo blockquote br caption center cite code col colgroup dd del details dfn div dl dt em
  figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i iframe img input ins kbd label li main mark nav ol p
  picture pre q rp rt ruby s samp script section small source span strike strong style sub summary sup table tbody td
  tfoot th thead time tr tt u ul var video wbr`.split(/\s+/),
)
const TAG_NAME = /^<\/?([a-z][a-z\d-]*)/i

const reader = openReader()

function openReader() {
  const made = new MarkdownIt({ html: true })
  made.renderer.rules['html_inline'] = (tokens, at) => {
    const content = tokens[at]?.content ?? ''
    const name = TAG_NAME.exec(content)?.[1]?.toLowerCase()
    return name === undefined || elements.has(name) ? content : made.utils.escapeHtml(content)
  }
  return made
}

/** Parses a page to a tree, from HTML or Markdown (CommonMark with GitHub tables). */
export function documentOf(page: Pick<WebPage, 'body' | 'headers'>): HtmlNode {
  const text = decode(page)
  return isHtml(page) || /^\s*<(!doctype|html)/i.test(text) ? parseHtml(text) : markdownDocument(text)
}

export function markdownDocument(text: string): HtmlNode {
  return parseHtml(reader.render(text.slice(0, MAX_MARKDOWN_CHARS)))
}

/** A node of a parsed page; element names are lower case. */
export type HtmlNode = {
  readonly type: string
  readonly name?: string
  readonly data?: string
  readonly attribs?: Readonly<Record<string, string>>
  readonly children?: readonly HtmlNode[]
}
export type Element = HtmlNode & Required<Pick<HtmlNode, 'name' | 'attribs' | 'children'>>

/** Elements that are never shown to a reader. */
const hidden = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'head',
  'title',
  'textarea',
  'select',
])
const nothing: ReadonlySet<string> = new Set()
/** Elements and roles outside the main content. */
const furniture = new Set([
  ...hidden,
  'navigation',
  'banner',
  'contentinfo',
  'complementary',
  'search',
  'nav',
  'header',
  'footer',
  'aside',
  'form',
  'button',
  'dialog',
  'menu',
  'figcaption',
  'pre',
])
/** Inline elements; others start a new block. */
export const inline = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)
const MAX_DEPTH = 1_000
/** Maximum tags of a page: ten times as many as the largest real pages have. Each tag takes some hundred bytes. */
const MAX_TAGS = 200_000
/** Void elements. */
const empty = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
/** Elements with optional end tags. */
const closedByNext = new Set('p li dt dd tr td th thead tbody tfoot option optgroup'.split(' '))

/**
 * Parses the part of a page that is within the limits. Parsers and selectors take quadratic time on hostile pages, so
 * depth is limited and selectors are not used.
 */
export function parseHtml(html: string): HtmlNode {
  const [document] = load(untilTooMuch(html), { xml: { xmlMode: false, decodeEntities: true } })
    .root()
    .toArray()
  return document as HtmlNode // a node of the page, seen as far as needed
}

const TAG = /<(\/?)([a-z][^\s/>]*)/gi

/** Start of an HTML text, up to where it exceeds the depth or tag limit. The counted depth may be too high. */
function untilTooMuch(html: string): string {
  const open = openElements()
  let tags = 0
  for (const { 1: slash, 2: tag = '', index } of html.matchAll(TAG)) {
    const name = tag.toLowerCase()
    if (slash === '/') open.close(name)
    else if (!empty.has(name) && !(closedByNext.has(name) && open.innermost() === name)) open.add(name)
    tags += 1
    if (open.depth() > MAX_DEPTH || tags > MAX_TAGS) return html.slice(0, index)
  }
  return html
}

/** Counts the open elements by name, so that a stray end tag needs no search. */
function openElements() {
  const names: string[] = []
  const openOf = new Map<string, number>()
  const count = (name: string, step: 1 | -1) => openOf.set(name, (openOf.get(name) ?? 0) + step)
  return {
    depth: () => names.length,
    innermost: () => names.at(-1),
    add(name: string) {
      names.push(name)
      count(name, 1)
    },
    /** Closes the innermost element called `name` and everything inside it. */
    close(name: string) {
      if ((openOf.get(name) ?? 0) === 0) return
      for (let closed = names.pop(); closed !== undefined; closed = closed === name ? undefined : names.pop()) {
        count(closed, -1)
      }
    },
  }
}

/** All elements in page order, without the content of elements named in `closed`. */
export function* elementsOf(page: HtmlNode, closed: ReadonlySet<string> = new Set()): Generator<Element> {
  const stack = [...(page.children ?? [])].reverse()
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (!isElement(next)) continue
    yield next
    if (!closed.has(next.name)) for (const child of next.children.toReversed()) stack.push(child)
  }
}

function isElement(node: HtmlNode): node is Element {
  return node.name !== undefined && node.attribs !== undefined && node.children !== undefined
}

const HIDING =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|(?:opacity|font-size)\s*:\s*0(?:\.0+)?(?:px|em|rem|%)?\s*(?:;|!|$))/i

/** The whole text of a heading's link to itself, which pages show only under the pointer. */
const PERMALINK = /^\s*[¶#§🔗]\s*$/u

/** Whether markup hides an element. A hidden `body` counts as visible, since its scripts will show it. */
export function isHidden({ name, attribs, children }: HtmlNode): boolean {
  if (!attribs || name === 'body' || name === 'html') return false
  if (name === 'a' && attribs['href']?.startsWith('#') && PERMALINK.test(children?.[0]?.data ?? '')) return true
  return attribs['hidden'] !== undefined || HIDING.test(attribs['style'] ?? '')
}

export function textIn(element: HtmlNode): string {
  return blocksOf([element], nothing).join(' ')
}

export function visibleBlocks(page: HtmlNode): string[] {
  return blocksOf(page.children ?? [], hidden)
}

/** Visible text without navigation and sidebars. */
export function bodyBlocks(page: HtmlNode): string[] {
  return blocksOf(page.children ?? [], furniture)
}

/** Whether an element shows nothing to a reader. */
export function isUnseen(node: HtmlNode): boolean {
  return hidden.has(node.name ?? '') || isHidden(node)
}

/** Visible text by block. Iterative, since nesting may be deep. */
function blocksOf(nodes: readonly HtmlNode[], skipped: ReadonlySet<string>): string[] {
  const pieces: string[] = []
  const stack: (HtmlNode | '\n')[] = [...nodes].reverse()
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next === '\n') pieces.push(next)
    else if (next.type === 'text') pieces.push((next.data ?? '').replace(/\s+/g, ' '))
    else if (
      next.children &&
      ![next.name, next.attribs?.['role']].some((of = '') => skipped.has(of)) &&
      !isHidden(next)
    )
      open(next, { pieces, stack })
    else if (next.name === 'br') pieces.push('\n')
  }
  const blocks = pieces.join('').split('\n')
  return blocks.map((block) => block.replace(/\s+/g, ' ').trim()).filter((block) => block !== '')
}

function open(node: HtmlNode, { pieces, stack }: { pieces: string[]; stack: (HtmlNode | '\n')[] }): void {
  const isBlock = !inline.has(node.name ?? '')
  if (isBlock) {
    pieces.push('\n')
    stack.push('\n')
  }
  for (const child of (node.children ?? []).toReversed()) stack.push(child)
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Absolute http or https URL; undefined for anything else. */
export function absolute(href: string | undefined, base: string): string | undefined {
  const url = href === undefined || href.trim() === '' ? null : URL.parse(href.trim(), base)
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined
}
