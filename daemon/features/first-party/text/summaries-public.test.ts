import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { told } from '../../../../fixtures/evaluation/figure.ts'
import { OUTSIDE } from '../../../../fixtures/outside/load.ts'
import { matters, sentencesOf, stem, wordsOf } from '../service/english.ts'
import { bodyBlocks, markdownDocument } from '../web/document.ts'
import { summarize } from './summary.ts'

// @deep summarizes the 300 pages of a public documentation

/* Pages whose authors said in a line what each is about: the words of that line that a summary has (ROUGE-1). */

const MIN_TOLD_WORDS = 8
const MIN_SENTENCES = 8
const LIKE_LEAD = { sentences: 3, words: 90 }

const pages = readdirSync(join(OUTSIDE, 'ai/docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.mdx'))
  .flatMap((name) => {
    const [, head = '', body = ''] =
      /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(readFileSync(join(OUTSIDE, 'ai/docs', name), 'utf8')) ?? []
    const about = /^description: *(.*)$/m.exec(head)?.[1] ?? ''
    const blocks = bodyBlocks(markdownDocument(body.replace(/```[\s\S]*?```/g, ''))).filter((text) =>
      text.includes(' '),
    )
    const sentences = blocks.flatMap(sentencesOf).filter((text) => /[.!?]$/.test(text))
    const isLong = wordsOf(about).length >= MIN_TOLD_WORDS && sentences.length >= MIN_SENTENCES
    return isLong ? [{ about, blocks, sentences }] : []
  })

const carried = (text: string) => new Set(wordsOf(text).filter(matters).map(stem))

/** How many of the words of the line a summary has, and how many of its own are among them. */
function rouge(shorten: (page: (typeof pages)[number]) => readonly string[]) {
  const each = pages.map((page) => {
    const [wanted, given] = [carried(page.about), carried(shorten(page).join(' '))]
    const both = [...wanted].filter((word) => given.has(word)).length
    return { recall: both / wanted.size, precision: given.size === 0 ? 0 : both / given.size }
  })
  const mean = (of: 'recall' | 'precision') => each.reduce((sum, one) => sum + one[of], 0) / each.length
  return { recall: mean('recall'), precision: mean('precision') }
}

it('a summary of three sentences says what a page is about, beside its first three and any three', () => {
  expect(pages.length).toBeGreaterThan(60)
  const ours = rouge(({ blocks }) => summarize(blocks, LIKE_LEAD))
  const lead = rouge(({ sentences }) => sentences.slice(0, 3))
  const last = rouge(({ sentences }) => sentences.slice(-3))
  told('summarization, ROUGE-1 against the line of the author', {
    pages: pages.length,
    recall: ours.recall,
    'recall of the first three': lead.recall,
    'recall of the last three': last.recall,
    precision: ours.precision,
    'precision of the first three': lead.precision,
  })
  // Not above the first three, which its listing says by the word extractive; far above any three.
  expect(ours.recall).toBeGreaterThan(0.9 * lead.recall)
  expect(ours.recall).toBeGreaterThan(1.5 * last.recall)
})
