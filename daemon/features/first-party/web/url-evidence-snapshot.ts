import { createHash } from 'node:crypto'
import type { Json } from '../../../../src/core/json.ts'
import { defineService, textOf } from '../service/service.ts'
import { parseHtml, visibleBlocks } from './html.ts'
import { decode, fetchPage, isHtml, isText, type WebPage } from './page.ts'

/** Hashed up to here (specification, Limits). */
const MAX_HASHED_BYTES = 1_000_000
/** Secrets of the visit, no evidence of the page. */
const withheldHeaders = new Set(['set-cookie'])
const EXCERPT_CHARS = 80

/**
 * Fetches a URL once and records what was there: any status is evidence, a page that cannot be had is none. The text
 * expected is looked for in what a reader sees and in the source, in the part that was read.
 */
export const urlEvidenceSnapshot = defineService({
  slug: 'url_evidence_snapshot',
  read: (input, ctx) => fetchPage(ctx, input, { field: 'url', maxBytes: MAX_HASHED_BYTES, truncate: true }),
  make(input, page: WebPage) {
    const expected = textOf(input, 'expected_text')
    const headers = Object.entries(page.headers).filter(([name]) => !withheldHeaders.has(name))
    return {
      url_evidence_snapshot: {
        url: textOf(input, 'url').trim(),
        final_url: page.url,
        redirects: page.redirects.map((hop) => ({ ...hop })),
        status: page.status,
        headers: Object.fromEntries(headers),
        body_bytes: page.body.length,
        body_sha256: createHash('sha256').update(page.body).digest('hex'),
        truncated: page.truncated,
        ...(expected === '' ? { text_found: null } : findText(page, expected, input['case_sensitive'] === true)),
        ...(typeof input['question'] === 'string' ? { question: input['question'] } : {}),
        fetched_at: new Date(page.at).toISOString(),
      },
    }
  },
})

/** Spaces and line ends count as one space on both sides; so do the two ways of writing an accented letter. */
function findText(page: WebPage, expected: string, caseSensitive: boolean): { [member: string]: Json } {
  const plain = (text: string) => text.normalize('NFC').replace(/\s+/g, ' ').trim()
  const fold = (text: string) => (caseSensitive ? text : text.toLowerCase())
  const wanted = fold(plain(expected))
  for (const [place, text] of placesOf(page)) {
    const shown = plain(text)
    const at = fold(shown).indexOf(wanted)
    if (at >= 0) return { text_found: true, found_in: place, excerpt: excerptAt(shown, at, wanted.length) }
  }
  return { text_found: false, found_in: null }
}

function placesOf(page: WebPage): [string, string][] {
  if (!isText(page)) return []
  const source = decode(page)
  const visible: [string, string][] = isHtml(page) ? [['visible_text', visibleBlocks(parseHtml(source)).join(' ')]] : []
  return [...visible, ['source', source]]
}

function excerptAt(text: string, at: number, length: number): string {
  return text.slice(Math.max(0, at - EXCERPT_CHARS), at + length + EXCERPT_CHARS).toWellFormed()
}
