import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { defineService, fetchPage, textOf } from '../service/service.ts'
import { type Element, elementsOf, oneLine, parseHtml, textIn } from './document.ts'
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

/** File signatures. */
const signatures: readonly (readonly [kind: string, bytes: string])[] = [
  ['PDF document', '%PDF'],
  ['PNG picture', '\x89PNG'],
  ['JPEG picture', '\xff\xd8\xff'],
  ['GIF picture', 'GIF8'],
  ['ZIP archive', 'PK\x03\x04'],
  ['gzip archive', '\x1f\x8b'],
  ['MP3 recording', 'ID3'],
  ['Ogg recording', 'OggS'],
  ['Windows program', 'MZ'],
  ['Linux program', '\x7fELF'],
]

/** Kind of a file by its first bytes; without a known signature, the declared media type. */
function kindOf({ body }: Pick<WebPage, 'body'>, type: string): string {
  const start = Buffer.from(body.subarray(0, 16)).toString('latin1')
  const known = signatures.find(([, bytes]) => start.startsWith(bytes))?.[0]
  if (known !== undefined) return known
  if (start.startsWith('RIFF')) return start.slice(8, 12) === 'WEBP' ? 'WebP picture' : 'WAV recording'
  return start.slice(4, 8) === 'ftyp' ? 'MP4 video' : type || 'file of an unknown kind'
}

/** Preview of a file: for an image the image itself, for other files type and size. */
function fromFile(page: WebPage): { [member: string]: Json } {
  const { pathname, hostname } = new URL(page.url)
  const name = decodedName(pathname.split('/').at(-1) ?? '')
  const kind = kindOf(page, mediaType(page))
  const told = Number(page.headers['content-length'])
  const whole = Number.isSafeInteger(told) && told > 0 ? told : null
  const bytes = page.truncated ? whole : page.body.length
  return {
    title: clip(name, MAX_TITLE_CHARS),
    description: bytes === null ? kind : `${kind}, ${bytes} bytes`,
    file: { kind, bytes },
    image: mediaType(page).startsWith('image/') ? page.url : null,
    site_name: hostname,
    type: null,
    canonical_url: null,
    icons: [new URL('/favicon.ico', page.url).href],
  }
}

function decodedName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch (error) {
    if (error instanceof URIError) return name
    throw error
  }
}

function fromHtml(page: WebPage): { [member: string]: Json } {
  const { meta, links, titles, base } = facesOf(decode(page))
  const from = absolute(base, page.url) ?? page.url
  const link = (rel: string) => absolute(links.find(({ rels }) => rels.includes(rel))?.href, from)
  const first = (...names: string[]) => names.map((name) => meta.get(name)).find((value) => value !== undefined)
  const image = first('og:image:secure_url', 'og:image', 'og:image:url', 'twitter:image', 'twitter:image:src')
  return {
    title: clip(first('og:title', 'twitter:title') ?? titles.get('title') ?? titles.get('h1'), MAX_TITLE_CHARS),
    description: clip(first('og:description', 'twitter:description', 'description'), MAX_TEXT_CHARS),
    image: absolute(image, from) ?? link('image_src') ?? null,
    site_name: clip(first('og:site_name', 'application-name') ?? new URL(page.url).hostname, MAX_TITLE_CHARS),
    type: clip(first('og:type'), MAX_TITLE_CHARS),
    canonical_url: link('canonical') ?? absolute(first('og:url'), from) ?? null,
    icons: iconsOf(links, from, page.url),
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

function iconsOf(links: readonly Link[], base: string, pageUrl: string): string[] {
  const named = links
    .filter(({ rels }) => rels.some((rel) => iconRels.includes(rel)))
    .flatMap(({ href }) => absolute(href, base) ?? [])
  const icons = named.length > 0 ? named : [new URL('/favicon.ico', pageUrl).href]
  return [...new Set(icons)].slice(0, MAX_ICONS)
}

/** Absolute http or https URL; undefined for anything else. */
function absolute(href: string | undefined, base: string): string | undefined {
  const url = href === undefined || href.trim() === '' ? null : URL.parse(href.trim(), base)
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined
}

function clip(text: string | undefined, chars: number): string | null {
  if (text === undefined || text === '') return null
  return (text.length <= chars ? text : `${text.slice(0, chars - 1).trimEnd()}…`).toWellFormed()
}
