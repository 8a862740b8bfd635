import { AppError, attempt } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { defineService, fetchPage, textOf } from '../service/service.ts'
import { absolute, type Element, elementsOf, oneLine, parseHtml, textIn } from './document.ts'
import { decode, isHtml, mediaType, type WebPage } from './page.ts'

/** Limit of bytes read per page, since metadata is at the beginning. */
const MAX_PREVIEW_BYTES = 512 * 1024
const FIRST_ERROR = 400
const MAX_TITLE_CHARS = 300
const MAX_TEXT_CHARS = 1_000
const MAX_ICONS = 8
const MAX_LINKS = 500

/** Title, description, image and icons of a page: OpenGraph, then Twitter, then plain HTML. */
export const linkPreview = defineService({
  slug: 'link_preview',
  read: (input, ctx) =>
    fetchPage(ctx, input, {
      field: 'url',
      accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.5',
      maxBytes: MAX_PREVIEW_BYTES,
      truncate: true,
    }),
  make(input, page: WebPage) {
    if (page.status >= FIRST_ERROR) throw new AppError('provider_failed', `The page returned status ${page.status}.`)
    const about = isHtml(page) ? fromHtml(page) : fromFile(page)
    return {
      url: textOf(input, 'url').trim(),
      final_url: page.url,
      status: page.status,
      content_type: mediaType(page),
      ...about,
    }
  },
})

/** Preview of a file: for an image the image itself, for other files type and size. */
function fromFile(page: WebPage): { [member: string]: Json } {
  const { pathname, hostname } = new URL(page.url)
  const name = pathname.split('/').at(-1) ?? ''
  const kind = mediaType(page) || 'file of an unknown kind'
  const bytes = page.truncated ? null : page.body.length
  return {
    title: clip(attempt(() => decodeURIComponent(name)) ?? name, MAX_TITLE_CHARS),
    description: bytes === null ? kind : `${kind}, ${bytes} bytes`,
    file: { kind, bytes },
    image: mediaType(page).startsWith('image/') ? page.url : null,
    site_name: hostname,
    type: null,
    canonical_url: null,
    icons: [],
  }
}

function fromHtml(page: WebPage): { [member: string]: Json } {
  const { meta, links, titles, base } = facesOf(decode(page))
  const from = absolute(base, page.url) ?? page.url
  const link = (rel: string) => absolute(links.find(({ rels }) => rels.includes(rel))?.href, from)
  const first = (...names: string[]) => names.map((name) => meta.get(name)).find((value) => value !== undefined)
  const named = first('og:image:secure_url', 'og:image', 'og:image:url', 'twitter:image', 'twitter:image:src')
  const title = clip(first('og:title', 'twitter:title') ?? titles.get('title') ?? titles.get('h1'), MAX_TITLE_CHARS)
  const description = clip(first('og:description', 'twitter:description', 'description'), MAX_TEXT_CHARS)
  const image = absolute(named, from) ?? link('image_src') ?? null
  if (!title && !description && !image)
    throw new AppError('provider_failed', 'The page names no title, description or image.')
  return {
    title,
    description,
    image,
    site_name: clip(first('og:site_name', 'application-name') ?? new URL(page.url).hostname, MAX_TITLE_CHARS),
    type: clip(first('og:type'), MAX_TITLE_CHARS),
    canonical_url: link('canonical') ?? absolute(first('og:url'), from) ?? null,
    icons: iconsOf(links, from),
  }
}

type Link = { readonly rels: readonly string[]; readonly href: string }
/** Metadata of a page. If a name has several values, the first counts. */
type Faces = {
  readonly meta: Map<string, string>
  readonly titles: Map<string, string>
  readonly links: Link[]
  base: string | undefined
}

/** SVG titles are not page titles. */
const pictures = new Set(['svg'])

function facesOf(html: string): Faces {
  const faces: Faces = { meta: new Map(), titles: new Map(), links: [], base: undefined }
  for (const element of elementsOf(parseHtml(html), pictures)) note(faces, element)
  return faces
}

function note(faces: Faces, element: Element): void {
  const { name, attribs } = element
  if (name === 'meta') {
    // Some pages confuse `name` and `property`.
    const key = (attribs['property'] ?? attribs['name'] ?? '').trim().toLowerCase()
    keepFirst(faces.meta, key, oneLine(attribs['content'] ?? ''))
  } else if (name === 'link' && attribs['href'] !== undefined && faces.links.length < MAX_LINKS) {
    faces.links.push({ rels: (attribs['rel'] ?? '').toLowerCase().split(/\s+/), href: attribs['href'] })
  } else if (name === 'base') {
    faces.base ??= attribs['href']
  } else if ((name === 'title' || name === 'h1') && !faces.titles.has(name)) {
    keepFirst(faces.titles, name, textIn(element))
  }
}

function keepFirst(map: Map<string, string>, key: string, value: string): void {
  if (key !== '' && value !== '' && !map.has(key)) map.set(key, value)
}

const iconRels = ['icon', 'apple-touch-icon', 'mask-icon']

function iconsOf(links: readonly Link[], base: string): string[] {
  const icons = links
    .filter(({ rels }) => rels.some((rel) => iconRels.includes(rel)))
    .flatMap(({ href }) => absolute(href, base) ?? [])
  return [...new Set(icons)].slice(0, MAX_ICONS)
}

function clip(text: string | undefined, chars: number): string | null {
  if (text === undefined || text === '') return null
  return (text.length <= chars ? text : `${text.slice(0, chars - 1).trimEnd()}…`).toWellFormed()
}
