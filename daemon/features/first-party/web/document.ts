import MarkdownIt from 'markdown-it'
import { type HtmlNode, parseHtml } from './html.ts'
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
