import { Readability } from '@mozilla/readability'
import JSDOMParser from '@mozilla/readability/JSDOMParser.js'
import { bodyBlocks, type HtmlNode, isUnseen, parseHtml, visibleBlocks } from './document.ts'

/** Maximum elements of a page, since Readability compares all elements with one another. */
const MAX_ELEMENTS = 20_000
/** A part with fewer characters is not the main part. */
const MIN_CHARS = 250
/** Minimum share of a page's text in its main part. A start page has no main part. */
const MAIN_SHARE = 0.3
/** Minimum share of a page's text beside its code. A page with less has its text in the code, as old manuals do. */
const PROSE_SHARE = 0.05
/** Attributes that Readability uses, and the attributes of links and images. */
const attributes = ['class', 'id', 'role', 'itemprop', 'rel', 'href', 'src', 'alt', 'title', 'dir', 'lang'] as const
const signs: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Blocks of the main content, without navigation and sidebars, as in a browser's reading view. */
export function mainBlocks(page: HtmlNode): string[] {
  const [body, seen] = [bodyBlocks(page), visibleBlocks(page)]
  const whole = lengthOf(body) > lengthOf(seen) * PROSE_SHARE ? body : seen
  const main = readingView(page)
  return lengthOf(main) > lengthOf(whole) * MAIN_SHARE ? main : whole
}

function readingView(page: HtmlNode): string[] {
  const found = new JSDOMParser().parse(`<html>${markupOf(page)}</html>`)
  const options = { charThreshold: MIN_CHARS, maxElemsToParse: MAX_ELEMENTS, disableJSONLD: true }
  try {
    const article = new Readability(found as never, options).parse() // as much of a document as it needs
    return article?.content ? bodyBlocks(parseHtml(article.content)) : []
  } catch {
    // Too many elements.
    return []
  }
}

/** Well-formed markup of the visible content. */
function markupOf({ type, name, data, attribs = {}, children = [] }: HtmlNode): string {
  if (type === 'text') return escaped(data ?? '')
  const inner = children.map((child) => (isUnseen(child) ? '' : markupOf(child))).join('')
  if (name === undefined || !/^[a-z][a-z\d-]*$/.test(name) || name === 'html') return inner
  const kept = attributes
    .map((key) => (attribs[key] === undefined ? '' : ` ${key}="${escaped(attribs[key])}"`))
    .join('')
  return children.length === 0 ? `<${name}${kept}/>` : `<${name}${kept}>${inner}</${name}>`
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => signs[sign] ?? '')
}

function lengthOf(blocks: readonly string[]): number {
  return blocks.reduce((sum, block) => sum + block.length, 0)
}
