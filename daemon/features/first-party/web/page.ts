import type { WebResponse } from '../../../ports/web/exchange.ts'

/** A fetched page in a form that can be copied to a worker thread. */
export type WebPage = Omit<WebResponse, 'body'> & { readonly body: Uint8Array }

/** A page must declare its charset within this range (HTML standard). */
const DECLARATION_BYTES = 1_024
/** How an HTML page begins, in latin1, after an optional BOM and blanks. */
const HTML_BEGINNING = /^(?:\u00ef\u00bb\u00bf)?\s*<(?:!doctype html|html|head|body|title|!--)[\s>]/i
const META_CHARSET = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{1,40})/i
const HEADER_CHARSET = /charset\s*=\s*"?([\w.:-]{1,40})/i

/** Charset of pages that are not UTF-8 and declare no charset (WHATWG Encoding). */
const LEGACY_CHARSET = 'windows-1252'

/** Media type in lower case, without parameters. If the server sends none, only HTML is recognised. */
export function mediaType({ headers, body }: Pick<WebPage, 'headers' | 'body'>): string {
  const named = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (named) return named
  const beginning = Buffer.from(body.subarray(0, DECLARATION_BYTES)).toString('latin1')
  return HTML_BEGINNING.test(beginning) ? 'text/html' : ''
}

export function isHtml(page: Pick<WebPage, 'headers' | 'body'>): boolean {
  const type = mediaType(page)
  return type === 'text/html' || type === 'application/xhtml+xml'
}

export function isText(page: Pick<WebPage, 'headers' | 'body'>): boolean {
  return isHtml(page) || /^text\/|[/+](json|xml|javascript)$/.test(mediaType(page))
}

/** Decodes a body by its BOM or declared charset, else as UTF-8 or `LEGACY_CHARSET`. */
export function decode({ body, headers }: Pick<WebPage, 'body' | 'headers'>): string {
  const declared =
    bomCharset(body) ??
    HEADER_CHARSET.exec(headers['content-type'] ?? '')?.[1] ??
    META_CHARSET.exec(Buffer.from(body.subarray(0, DECLARATION_BYTES)).toString('latin1'))?.[1]
  const decoder = declared === undefined ? undefined : decoderOf(declared)
  return decoder ? decoder.decode(body, { stream: true }) : guessed(body)
}

function bomCharset(body: Uint8Array): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8'
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be'
  return body[0] === 0xff && body[1] === 0xfe ? 'utf-16le' : undefined
}

function decoderOf(label: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(label)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Decodes UTF-8 or, if the text is not UTF-8, the legacy charset. `stream` ignores an incomplete last character. */
function guessed(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true })
  } catch (error) {
    if (error instanceof TypeError) return new TextDecoder(LEGACY_CHARSET).decode(body)
    throw error
  }
}
