import { sentencesOf } from '../service/english.ts'
import { decode, type WebPage } from '../web/page.ts'
import { type Block, blocksOfPage, textOfBlock } from './blocks.ts'
import { type DocsSource, publishedOperations } from './openapi-draft.ts'
import { operationsIn } from './operations.ts'

export const MAX_QUOTE_CHARS = 300
const MAX_LINES = 20_000
const MAX_BEGINNING_CHARS = 80

/** Words as they stand on a page. */
export type QuotedAt = { readonly quote: string; readonly url: string }
/** Something that documentation says: a sentence, a line of code, a row. */
export type SaidLine = { readonly text: string; readonly url: string; readonly isHeading: boolean }
export type Operation = {
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly evidence: QuotedAt
}

/** What the documentation says, and what its published description does. */
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

/** A description in one line is taken apart between its members, so that each piece still stands there as it is. */
function piecesOf(text: string): string[] {
  return text
    .split(/\n|(?<=[,{[])(?=")/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** How a published description begins: by that it is known. */
export function beginningOf(page: WebPage): string {
  return decode(page).trimStart().slice(0, MAX_BEGINNING_CHARS).toWellFormed()
}

/** Those that the makers publish, else those that their pages describe. */
export function operationsOf({ pages, published }: DocsSource): Operation[] {
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
 * Whether something is there by what the documentation says of it: its words alone say nothing, and *we do not support
 * webhooks* says that there are none. What is said both ways is unclear, and so is a heading with nothing under it.
 */
export function offerOf(lines: readonly SaidLine[], signs: RegExp, { isThing }: { isThing: boolean }): Offer {
  const named = lines.flatMap((line, at) => (signs.test(line.text) ? [{ ...line, below: lines[at + 1] }] : []))
  const offered = named.filter(({ text }) => !isThing || isOffered(text, signs))
  const there = new Set(offered)
  const denied = named.find((line) => !there.has(line))
  const said = offered.find(({ isHeading }) => !isHeading)
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

/** As it stands there, around what was found. */
function quoteOf({ text, url }: SaidLine, signs: RegExp): QuotedAt {
  const at = signs.exec(text)?.index ?? 0
  const start = Math.max(0, at - MAX_QUOTE_CHARS / 2)
  return { quote: text.slice(start, start + MAX_QUOTE_CHARS).toWellFormed(), url }
}

/** `does not yet offer any X`, `there are no X`, `lacks X`, and X after that. */
const REFUSED_BEFORE =
  /(?:(?:\bnot|n't|\bnever|\bcannot|\bno longer)\s+(?:\w+\s+){0,2}(?:support|offer|provide|have|has|implement|send)\w*|\b(?:no|without|lacks?|neither|nor))\s+(?:(?!more\b|fewer\b|less\b|over\b)[\w'-]+\s+){0,3}$/i
/** X, and then `are not supported`, `isn't available yet`, `do not exist`, `: none`, `is coming soon`. */
const REFUSED_AFTER =
  /^[^.;]{0,40}?\b(?:(?:is|are|be)(?:n't| not| no longer)|not|never)\s+(?:\w+\s+){0,2}(?:support|offer|provid|availab|implement|planned|possible|included)|^[^.;]{0,40}?\bdo(?:es)?(?:n't| not)\s+exist|^\W*(?:(?:is|are)\s+)?(?:none\b|coming soon|planned\b|on (?:our|the) roadmap|not yet\b|n\/a\b|unsupported|unavailable)/i
const REFUSAL = /^\W*(?:none\b|not\b|no\b|n\/a\b|coming soon|unsupported|unavailable)/i

/** A text under the heading of something. */
function isRefusal(text: string): boolean {
  const said = text.slice(0, NEAR_CHARS)
  return (
    REFUSAL.test(said) ||
    REFUSED_AFTER.test(` ${said}`) ||
    /\b(?:not|n't)\s+(?:\w+\s+){0,2}(?:support|offer|provide)\b/i.test(said)
  )
}

/** What stands further off says something of something else. */
const NEAR_CHARS = 300

/** Whether a sentence that names something says that it is there, as far as it says anything. */
export function isOffered(text: string, signs: RegExp): boolean {
  const match = signs.exec(text)
  if (!match) return false
  const [before, after] = [text.slice(0, match.index), text.slice(match.index + match[0].length)]
  // What is denied in another part of the sentence is something else.
  const near =
    before
      .slice(-NEAR_CHARS)
      .split(/[;:]|, (?:but|and)\b/)
      .at(-1) ?? ''
  const next = after.slice(0, NEAR_CHARS).split(/[;.]|, (?:but|and)\b/)[0] ?? ''
  return !(REFUSED_BEFORE.test(near) || REFUSED_AFTER.test(next))
}
