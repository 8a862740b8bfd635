import { compact, isKeyOf } from '../../../../src/core/record.ts'
import { defineService, type JsonInput, type ServiceCtx, textOf, wrongField } from '../service/service.ts'
import { mainBlocks, parseHtml } from '../web/html.ts'
import { decode, fetchPage, isHtml, isText as isTextual, type WebPage } from '../web/page.ts'
import { summarize } from './summary.ts'

/** As much of a text as is read, from a page as well. */
const MAX_SOURCE_CHARS = 50_000
const MAX_PAGE_BYTES = 2 * 1024 * 1024

/** How much is kept: sentences at most, and words at most. */
const lengths = {
  brief: { sentences: 2, words: 60 },
  standard: { sentences: 5, words: 150 },
  detailed: { sentences: 12, words: 360 },
} as const

type Source = { readonly blocks: readonly string[]; readonly kind: 'text' | 'url'; readonly url?: string }
/** A short text without a page: some hundred sentences at most. */
const QUICK_CHARS = 1_000

/**
 * Shortens a text to its most telling sentences, in their own words and order. Nothing is rephrased, so nothing is
 * claimed that the text does not say; where both are given, the text goes before the URL.
 */
export const summarization = defineService({
  slug: 'summarization',
  isQuick: (input) => isText(input) && textOf(input, 'text').length <= QUICK_CHARS,
  read: (input, ctx) => (isText(input) ? undefined : pageOf(input, ctx)),
  make(input, page: WebPage | undefined) {
    const { blocks, kind, url } = sourceOf(input, page)
    const format = input['format'] === 'bullets' ? 'bullets' : 'paragraph'
    const wanted = textOf(input, 'max_length')
    const length = isKeyOf(lengths, wanted) ? wanted : 'standard'
    const kept = clipped(blocks, MAX_SOURCE_CHARS)
    const sentences = summarize(kept, lengths[length])
    if (sentences.length === 0) throw wrongField(kind, 'holds no text to shorten')
    return {
      summary: format === 'bullets' ? sentences.map((text) => `- ${text}`).join('\n') : sentences.join(' '),
      format,
      max_length: length,
      sentences: sentences.length,
      source: kind,
      source_chars: kept.reduce((sum, block) => sum + block.length, 0),
      ...compact({ url }),
    }
  },
})

/** Whether the text is given, or nothing else. */
function isText(input: JsonInput): boolean {
  return textOf(input, 'text').trim() !== '' || input['url'] === undefined
}

async function pageOf(input: JsonInput, ctx: ServiceCtx): Promise<WebPage> {
  const page = await fetchPage(ctx, input, {
    field: 'url',
    accept: 'text/html,text/plain;q=0.9,*/*;q=0.1',
    maxBytes: MAX_PAGE_BYTES,
    truncate: true,
  })
  if (page.status < 200 || page.status >= 300) throw wrongField('url', `answered ${page.status}`)
  if (!isTextual(page)) throw wrongField('url', 'is not a page of text')
  return page
}

function sourceOf(input: JsonInput, page: WebPage | undefined): Source {
  if (!page) return { kind: 'text', blocks: plainBlocks(textOf(input, 'text')) }
  const source = decode(page)
  return { kind: 'url', url: page.url, blocks: isHtml(page) ? mainBlocks(parseHtml(source)) : plainBlocks(source) }
}

/** Paragraphs: an empty line ends one, a single line end does not. */
function plainBlocks(text: string): string[] {
  const blocks = text.split(/\r?\n[ \t]*\r?\n/).map((block) => block.replace(/\s+/g, ' ').trim())
  return blocks.filter((block) => block !== '')
}

function clipped(blocks: readonly string[], chars: number): string[] {
  const kept: string[] = []
  let room = chars
  for (const block of blocks) {
    if (room <= 0) break
    kept.push(block.slice(0, room))
    room -= block.length
  }
  return kept
}
