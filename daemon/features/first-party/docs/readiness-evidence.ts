import { sentencesOf } from '../service/english.ts'
import { decode, type WebPage } from '../web/page.ts'
import { type Block, blocksOfPage, textOfBlock } from './blocks.ts'
import { type DocsSource, publishedOperations } from './openapi-draft.ts'
import { operationsIn } from './operations.ts'

export const MAX_QUOTE_CHARS = 300
const MAX_LINES = 20_000
const MAX_BEGINNING_CHARS = 80

export type QuotedAt = { readonly quote: string; readonly url: string }
/** A sentence, code line or table row of documentation. */
export type SaidLine = { readonly text: string; readonly url: string; readonly isHeading: boolean }
export type Operation = ReturnType<typeof operationsOf>[number]

/** Lines of the documentation pages, and of the API description that the site publishes. */
export function linesOf({ pages, published }: DocsSource): SaidLine[] {
  const told = pages.filter(({ url }) => url !== published?.url).flatMap((page) => linesOfPage(page))
  const described = published ? piecesOf(decode(published)) : []
  const url = published?.url ?? ''
  return [...told, ...described.map((text) => ({ text, url, isHeading: false }))].slice(0, MAX_LINES)
}

function linesOfPage(page: WebPage): SaidLine[] {
  return blocksOfPage(page).flatMap((block) =>
    saidIn(block).map((text) => ({ text, url: page.url, isHeading: block.kind === 'heading' })),
  )
}

function saidIn(block: Block): string[] {
  const lines = textOfBlock(block).split('\n')
  return block.kind === 'text' || block.kind === 'item' ? lines.flatMap(sentencesOf) : lines
}

/** Splits an API description at its members, since it may be one long line. Each piece stays a literal quote. */
function piecesOf(text: string): string[] {
  return text
    .split(/\n|(?<=[,{[])(?=")/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** First characters of a published description, which serve as its quote. */
export function beginningOf(page: WebPage): string {
  return decode(page).trimStart().slice(0, MAX_BEGINNING_CHARS).toWellFormed()
}

/** Operations of the published description or, without one, those found in the pages. */
export function operationsOf({ pages, published }: DocsSource) {
  const described = published ? publishedOperations(published) : []
  if (published && described.length > 0) {
    return described.map((one) => ({ ...one, evidence: { quote: one.path, url: published.url } }))
  }
  const urls = new Map<string, string>()
  for (const page of pages) {
    for (const { evidence } of operationsIn(blocksOfPage(page))) if (!urls.has(evidence)) urls.set(evidence, page.url)
  }
  return operationsIn(pages.flatMap(blocksOfPage)).map(({ method, path, summary, evidence }) => ({
    method,
    path,
    summary,
    evidence: { quote: evidence, url: urls.get(evidence) ?? pages[0]?.url ?? '' },
  }))
}

type Offer = { readonly status: 'found' | 'missing' | 'unclear'; readonly evidence?: QuotedAt }

/**
 * Whether documentation offers something, with a quote. With `isThing`, a sentence such as *we do not support webhooks*
 * counts as a denial. The result is unclear for contradictions and for headings without text.
 */
export function offerOf(lines: readonly SaidLine[], signs: RegExp, { isThing }: { isThing: boolean }): Offer {
  const named = lines.flatMap((line, at) => (signs.test(line.text) ? [{ ...line, below: lines[at + 1] }] : []))
  const offered = named.filter(({ text }) => !isThing || isOffered(text, signs))
  const there = new Set(offered)
  const denied = named.find((line) => !there.has(line))
  // A path says what it is; other headings leave it to the text below.
  const said = offered.find(({ isHeading, text }) => !isHeading || /^(?:[A-Z]+ )?\/\w/.test(text))
  const [heading] = offered
  if (said) return { status: denied ? 'unclear' : 'found', evidence: quoteOf(said, signs) }
  if (denied) return { status: 'missing', evidence: quoteOf(denied, signs) }
  if (!heading) return { status: 'missing' }
  const { below } = heading
  const isFollowed = below !== undefined && !below.isHeading && below.url === heading.url
  if (!isFollowed) return { status: 'unclear', evidence: quoteOf(heading, signs) }
  return isThing && isRefusal(below.text)
    ? { status: 'missing', evidence: quoteOf(below, signs) }
    : { status: 'found', evidence: quoteOf(below, signs) }
}

/** A literal quote that contains the matching words. */
function quoteOf({ text, url }: SaidLine, signs: RegExp): QuotedAt {
  const at = signs.exec(text)?.index ?? 0
  const early = Math.max(0, at - MAX_QUOTE_CHARS / 2)
  const start = early === 0 ? 0 : Math.min(at, text.indexOf(' ', early) + 1 || at)
  return { quote: text.slice(start, start + MAX_QUOTE_CHARS).toWellFormed(), url }
}

/** Denials before the term: `does not yet offer any X`, `there are no X`, `lacks X`. */
const REFUSED_BEFORE =
  /(?:(?:\bnot|n't|\bnever|\bcannot|\bno longer)\s+(?:\w+\s+){0,2}(?:support|offer|provide|have|has|implement|send)\w*|\b(?:no|without|lacks?|neither|nor))\s+(?:(?!more\b|fewer\b|less\b|over\b)[\w'-]+\s+){0,3}$/i
/** Denials after the term: `are not supported`, `isn't available yet`, `do not exist`, `: none`, `is coming soon`. */
const REFUSED_AFTER =
  /^[^.;]{0,40}?\b(?:(?:is|are|be)(?:n't| not| no longer)|not|never)\s+(?:\w+\s+){0,2}(?:support|offer|provid|availab|implement|planned|possible|included)|^[^.;]{0,40}?\bdo(?:es)?(?:n't| not)\s+exist|^\W*(?:(?:is|are)\s+)?(?:none\b|coming soon|planned\b|on (?:our|the) roadmap|not yet\b|n\/a\b|unsupported|unavailable)/i
const REFUSAL = /^\W*(?:none\b|not\b|no\b|n\/a\b|coming soon|unsupported|unavailable)/i

/** Whether the text under a heading denies what the heading names. */
function isRefusal(text: string): boolean {
  const said = text.slice(0, NEAR_CHARS)
  return (
    REFUSAL.test(said) ||
    REFUSED_AFTER.test(` ${said}`) ||
    /\b(?:not|n't)\s+(?:\w+\s+){0,2}(?:support|offer|provide)\b/i.test(said)
  )
}

/** A denial farther from the match than this does not count. */
const NEAR_CHARS = 300

/** Whether a sentence names something and does not deny it. */
export function isOffered(text: string, signs: RegExp): boolean {
  const match = signs.exec(text)
  if (!match) return false
  const [before, after] = [text.slice(0, match.index), text.slice(match.index + match[0].length)]
  // A denial far from the match is about something else.
  const near =
    before
      .slice(-NEAR_CHARS)
      .split(/[;:]|, (?:but|and)\b/)
      .at(-1) ?? ''
  const next = after.slice(0, NEAR_CHARS).split(/[;.]|, (?:but|and)\b/)[0] ?? ''
  return !(REFUSED_BEFORE.test(near) || REFUSED_AFTER.test(next))
}
