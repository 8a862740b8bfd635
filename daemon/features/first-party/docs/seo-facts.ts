import { isObject } from '../../../../src/core/json.ts'
import { absolute, type Element, elementsOf, parseHtml, textIn, visibleBlocks } from '../web/document.ts'
import { decode, type WebPage } from '../web/page.ts'

export type PageFacts = ReturnType<typeof factsOfPage>

const MAX_TEXT_CHARS = 500
const MAX_LISTED = 500
const MAX_BLOCKS = 20
const MAX_JSON_CHARS = 200_000

export function factsOfPage(page: WebPage) {
  const root = parseHtml(decode(page))
  const elements = [...elementsOf(root, new Set(['svg', 'template']))]
  const named = (name: string) => elements.filter((element) => element.name === name)
  const meta = metaOf(named('meta'))
  const links = named('link')
  const images = named('img')
  const headings = elements.filter(({ name }) => /^h[1-6]$/.test(name))
  return {
    url: page.url,
    status: page.status,
    title: short(named('title').map(textIn).find(Boolean)),
    description: short(meta.get('description')),
    h1: headings.filter(({ name }) => name === 'h1').map((heading) => textIn(heading).slice(0, MAX_TEXT_CHARS)),
    /** Levels of the page's headings, in page order. */
    headings: headings.slice(0, MAX_LISTED).map(({ name }) => Number(name.slice(1))),
    canonicals: links
      .filter(({ attribs }) => (attribs['rel'] ?? '').toLowerCase().split(/\s+/).includes('canonical'))
      .map(({ attribs }) => absolute(attribs['href'], page.url) ?? attribs['href'] ?? ''),
    /** What forbids indexing; null if nothing does. */
    noindex: noindexOf(meta, page.headers['x-robots-tag']),
    lang: named('html')[0]?.attribs['lang']?.trim() ?? null,
    viewport: meta.get('viewport') ?? null,
    images: images.length,
    imagesWithoutAlt: images
      .filter(({ attribs }) => attribs['alt'] === undefined)
      .slice(0, MAX_LISTED)
      .map(({ attribs }) => (attribs['src'] ?? '').slice(0, MAX_TEXT_CHARS)),
    linkTexts: named('a')
      .filter(({ attribs }) => attribs['href'] !== undefined)
      .slice(0, MAX_LISTED)
      .map(labelOf),
    structured: [
      ...named('script')
        .filter(({ attribs }) => attribs['type'] === 'application/ld+json')
        .map(structuredOf),
      ...elements.flatMap(markedOf),
    ].slice(0, MAX_BLOCKS),
    openGraph: [...meta.keys()].filter((key) => key.startsWith('og:')),
    hreflangs: links
      .filter(({ attribs }) => attribs['hreflang'] !== undefined)
      .slice(0, MAX_LISTED)
      .map(({ attribs }) => ({ lang: attribs['hreflang'] ?? '', href: absolute(attribs['href'], page.url) ?? null })),
    words: visibleBlocks(root)
      .join(' ')
      .split(/\s+/)
      .filter((word) => /[\p{L}\p{N}]/u.test(word)).length,
  }
}

function metaOf(elements: readonly Element[]): Map<string, string> {
  const meta = new Map<string, string>()
  for (const { attribs } of elements.slice(0, MAX_LISTED)) {
    const key = (attribs['name'] ?? attribs['property'] ?? '').trim().toLowerCase()
    if (key !== '' && !meta.has(key)) meta.set(key, (attribs['content'] ?? '').trim())
  }
  return meta
}

/** Not the value of a rule, as in `max-image-preview:none`. */
const NOINDEX = /\bnoindex\b|(?<!preview\s*:\s*)\bnone\b/i

function noindexOf(meta: Map<string, string>, header: string | undefined): string | null {
  const said = [meta.get('robots'), meta.get('googlebot'), header].find((text) => NOINDEX.test(text ?? ''))
  return said?.slice(0, MAX_TEXT_CHARS) ?? null
}

/** Label of a link; without text, that of the first thing in it that has one. */
function labelOf(link: Element): string {
  const own = textIn(link) || (link.attribs['aria-label'] ?? '') || (link.attribs['title'] ?? '')
  const inside = [...elementsOf(link)].map(({ attribs }) => attribs['alt'] || attribs['aria-label']).find(Boolean)
  return (own || (inside ?? '')).trim().slice(0, MAX_TEXT_CHARS)
}

function structuredOf(script: Element) {
  const text = script.children.map(({ data }) => data ?? '').join('')
  const none = { type: 'unknown', valid: false }
  if (text.length > MAX_JSON_CHARS) return { ...none, errors: ['too large to read'] }
  try {
    const parsed: unknown = JSON.parse(text)
    const types = typesIn(parsed)
    if (types.length === 0) return { ...none, errors: ['has no @type'] }
    return { type: types.join(', ').slice(0, MAX_TEXT_CHARS), valid: true, errors: [] }
  } catch (error) {
    if (error instanceof SyntaxError) return { ...none, errors: ['is not JSON'] }
    throw error
  }
}

/** Type of a thing in microdata or RDFa; parts of other things do not count. */
function markedOf({ attribs }: Element) {
  const type = attribs['itemtype'] ?? attribs['typeof']
  const isPart = attribs['itemprop'] !== undefined || attribs['property'] !== undefined
  return type && !isPart
    ? [{ type: type.replace(/^.*[/:]/, '').slice(0, MAX_TEXT_CHARS), valid: true, errors: [] }]
    : []
}

function typesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.slice(0, MAX_BLOCKS).flatMap(typesIn)
  if (!isObject(value)) return []
  const { '@type': type, '@graph': graph } = value
  const own = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string')
  return [...own, ...(Array.isArray(graph) ? typesIn(graph) : [])]
}

function short(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text.slice(0, MAX_TEXT_CHARS).toWellFormed()
}
