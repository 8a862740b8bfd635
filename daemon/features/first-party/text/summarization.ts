import { isObject, type Json } from '../../../../src/core/json.ts'
import { compact, isKeyOf } from '../../../../src/core/record.ts'
import { MAX_LLM_CHARS } from '../../../ports/llm/llm.ts'
import { sentencesOf } from '../service/english.ts'
import { isGrounded, plainly } from '../service/grounding.ts'
import { defineService, fetchPage, type JsonInput, type ServiceCtx, textOf, wrongField } from '../service/service.ts'
import { documentOf } from '../web/document.ts'
import { mainBlocks } from '../web/main-part.ts'
import { decode, isHtml, isText as isTextual, mediaType, type WebPage } from '../web/page.ts'
import { summarize } from './summary.ts'

/** Maximum characters read from a text or page. */
const MAX_SOURCE_CHARS = 50_000
const MAX_PAGE_BYTES = 2 * 1024 * 1024

/** Limits of sentences and words for each summary length. */
const lengths = {
  brief: { sentences: 2, words: 60 },
  standard: { sentences: 5, words: 150 },
  detailed: { sentences: 12, words: 360 },
} as const

const SLUG = 'summarization'
const MAX_TOKENS = 1_000
const MAX_TOLD_CHARS = 5_000
const TOLD_SCHEMA = {
  type: 'object',
  properties: { summary: { type: 'string' } },
  required: ['summary'],
  additionalProperties: false,
}

/** `said` is the model's answer: undefined before asking, null if it gave none. */
type Read = {
  readonly page: WebPage | undefined
  readonly wantsModel: boolean
  readonly said?: { readonly model: string; readonly answer: unknown } | null
}
type Source = { readonly blocks: readonly string[]; readonly kind: 'text' | 'url'; readonly url?: string }
/** Texts up to this length are summarized on the main thread. */
const QUICK_CHARS = 1_000

/**
 * Extracts the most central sentences in their original words and order, so that nothing is invented. If both text and
 * URL are given, the URL is ignored. A configured model may rephrase; its sentences with unsupported facts are removed.
 */
export const summarization = defineService({
  slug: SLUG,
  wants: ['llm'],
  isQuick: (input) => isText(input) && textOf(input, 'text').length <= QUICK_CHARS,
  async read(input, ctx): Promise<Read> {
    const page = isText(input) ? undefined : await pageOf(input, ctx)
    return { page, wantsModel: ctx.engines.llm?.serves(SLUG) === true }
  },
  make(input, { page, wantsModel, said }) {
    const source = sourceOf(input, page)
    const kept = clipped(source.blocks, MAX_SOURCE_CHARS)
    const sentences = summarize(kept, lengths[lengthOf(input)])
    if (sentences.length === 0) throw wrongField(source.kind, 'contains no text to summarize')
    if (sentences.join(' ') === kept.join(' ')) throw wrongField(source.kind, 'is no longer than its summary')
    if (wantsModel && said === undefined) return { text: clipped(kept, MAX_LLM_CHARS).join('\n') }
    const told = said ? toldIn(said.answer, kept.join('\n'), lengthOf(input)) : undefined
    return {
      summary: shown(told ?? sentences, input),
      ...(told ? { extractive: shown(sentences, input) } : {}),
      format: formatOf(input),
      max_length: lengthOf(input),
      sentences: (told ?? sentences).length,
      source: source.kind,
      source_chars: kept.reduce((sum, block) => sum + block.length, 0),
      ...compact({ url: source.url }),
      engine: engineOf(told !== undefined, said),
    }
  },
  async again({ input, source, made }, { engines: { llm }, signal }) {
    if (!source.wantsModel || source.said !== undefined || !llm) return undefined
    const data = isObject(made) ? String(made['text']) : ''
    const { sentences, words } = lengths[lengthOf(input)]
    const task = `Summarize the data in its own language, in at most ${sentences} sentences and ${words} words.`
    try {
      const answer = await llm.ask({ task, data, schema: TOLD_SCHEMA, maxTokens: MAX_TOKENS, signal })
      return { ...source, said: { model: llm.model, answer } }
    } catch (error) {
      if (signal.aborted) throw error
      return { ...source, said: null }
    }
  },
})

function engineOf(isTold: boolean, said: Read['said']): Json {
  if (said && isTold) return { name: 'llm', version: '1', kind: 'model', model: said.model }
  return { name: 'souk', version: '1', kind: 'deterministic', ...(said === undefined ? {} : { fallback_from: 'llm' }) }
}

function lengthOf(input: JsonInput): keyof typeof lengths {
  const wanted = textOf(input, 'max_length')
  return isKeyOf(lengths, wanted) ? wanted : 'standard'
}

function formatOf(input: JsonInput): 'bullets' | 'paragraph' {
  return input['format'] === 'bullets' ? 'bullets' : 'paragraph'
}

function shown(sentences: readonly string[], input: JsonInput): string {
  return formatOf(input) === 'bullets' ? sentences.map((text) => `- ${text}`).join('\n') : sentences.join(' ')
}

/** A model's answer without unsupported sentences; undefined if nothing is left. */
function toldIn(answer: unknown, text: string, length: keyof typeof lengths): string[] | undefined {
  const said = isObject(answer) && typeof answer['summary'] === 'string' ? answer['summary'] : ''
  const source = plainly(text)
  const limits = lengths[length]
  const sentences = said
    .slice(0, MAX_TOLD_CHARS)
    .split('\n')
    .flatMap((line) => sentencesOf(line.replace(/^\s*[-*•]\s+/, '')))
    .filter((sentence) => isGrounded(sentence, source))
    .slice(0, limits.sentences)
  return sentences.length === 0 ? undefined : sentences
}

/** Whether `text` is the source: it was given, or there is no `url`. */
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
  if (!isTextual(page)) throw wrongField('url', 'does not return text')
  return page
}

function sourceOf(input: JsonInput, page: WebPage | undefined): Source {
  if (!page) return { kind: 'text', blocks: plainBlocks(textOf(input, 'text')) }
  const isMarked = isHtml(page) || mediaType(page) === 'text/markdown' || /\.md$/i.test(new URL(page.url).pathname)
  return { kind: 'url', url: page.url, blocks: isMarked ? mainBlocks(documentOf(page)) : plainBlocks(decode(page)) }
}

/** Paragraphs, separated by empty lines. */
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
