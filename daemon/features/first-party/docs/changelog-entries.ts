import { SaxesParser } from 'saxes'
import { parseHtml, visibleBlocks } from '../web/document.ts'
import { decode, isHtml, mediaType, type WebPage } from '../web/page.ts'
import { type Block, blocksOfPage, textOfBlock } from './blocks.ts'
import { sectionOf } from './change-kinds.ts'

export type ChangelogEntry = {
  /** UTC day, `YYYY-MM-DD`; null if missing. */
  readonly date: string | null
  readonly version: string | null
  readonly url?: string
  /** Sentences or list items. */
  readonly lines: readonly string[]
  /** Headings above the lines within the entry, such as `Removed`. */
  readonly sections: readonly string[]
}

const MAX_ENTRIES = 2_000
const MAX_LINE_CHARS = 1_000

export function entriesOf(page: WebPage): { format: 'feed' | 'html' | 'markdown'; entries: ChangelogEntry[] } {
  const text = decode(page)
  if (/[/+]xml$/.test(mediaType(page)) || /^\s*(<\?xml[^>]*>\s*)?<(rss|feed|rdf:RDF)[\s>]/.test(text)) {
    return { format: 'feed', entries: feedEntries(text) }
  }
  const entries = sectionEntries(blocksOfPage(page))
  return { format: isHtml(page) ? 'html' : 'markdown', entries }
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const ISO = /(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?![\d_-])/
const MONTH_FIRST =
  /\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b/i
const DAY_FIRST = /\b(\d{1,2})(?:st|nd|rd|th)? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,? (\d{4})\b/i
const VERSION = /(?<![\d.a-uw-z])v?(\d{1,6}\.\d{1,6}(?:\.\d{1,6})?(?:-[\w.]{1,40})?)\b/i

/** The first date that a text names; null without one. */
export function dateIn(text: string): string | null {
  const iso = ISO.exec(text)
  if (iso) return checked(iso[0])
  const monthFirst = MONTH_FIRST.exec(text)
  if (monthFirst) return written(monthFirst[3], monthFirst[1], monthFirst[2])
  const dayFirst = DAY_FIRST.exec(text)
  return dayFirst ? written(dayFirst[3], dayFirst[2], dayFirst[1]) : null
}

/** Whether a text is a date and nothing else. */
function isDate(text: string): boolean {
  return /^\W*$/.test(text.replace(ISO, '').replace(MONTH_FIRST, '').replace(DAY_FIRST, '')) && dateIn(text) !== null
}

function written(year = '', month = '', day = ''): string | null {
  const number = months.indexOf(month.slice(0, 3).toLowerCase()) + 1
  return checked(`${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`)
}

function checked(day: string): string | null {
  const at = Date.parse(day)
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day ? null : day
}

type Open = {
  date: string | null
  version: string | null
  level: number
  section: { text: string; level: number /** Number of lines above it. */; at: number }
  lines: string[]
  sections: string[]
}

/** At most this many lines stand between a title and the date below it. */
const MAX_BEFORE_DATE = 3

/** A heading with a date or version starts an entry; deeper headings are its sections. */
function sectionEntries(blocks: readonly Block[]): ChangelogEntry[] {
  const entries: Open[] = []
  const title = titleOf(blocks)
  for (const block of blocks.map(labelled)) {
    if (block === title) continue
    const current = entries.at(-1)
    const begun = beginning(block, current)
    if (begun && entries.length < MAX_ENTRIES) entries.push(current ? withTitled(begun, current) : begun)
    else if (current) add(current, block)
  }
  return entries
    .filter(({ version, lines }) => version !== null || lines.length > 0)
    .map(({ date, version, lines, sections }) => ({ date, version, lines, sections }))
}

/** A paragraph that stands for a heading, such as `BREAKING CHANGES:`. */
const LABEL = /^\W*(?:\w+ ){0,3}\w+:$/

function labelled(block: Block): Block {
  const isLabel = block.kind === 'text' && LABEL.test(block.text) && sectionOf(block.text) !== undefined
  return isLabel ? { kind: 'heading', level: 7, text: block.text } : block
}

const BEGINS_ENTRY = /^\W*v?\d/i

/** The one heading above all that begin entries: a date in it or below it is that of the page. */
function titleOf(blocks: readonly Block[]): Block | undefined {
  const headings = blocks.filter((block) => block.kind === 'heading')
  const top = Math.min(...headings.map(({ level }) => level))
  const [title, other] = headings.filter(({ level }) => level === top)
  const begins = headings.filter(({ text }) => BEGINS_ENTRY.test(text) && (dateIn(text) ?? VERSION.exec(text)) !== null)
  return title && !other && begins.length > 0 && !begins.includes(title) ? title : undefined
}

/** Level of a dated line that stands for a heading. */
const LINE_LEVEL = 7

function levelIn(block: Block, current: Open | undefined): number | undefined {
  if (block.kind === 'heading') return block.level
  const isLine = (block.kind === 'item' || block.kind === 'text') && isDate(block.text) && current?.date !== null
  return isLine ? LINE_LEVEL : undefined
}

function beginning(block: Block, current: Open | undefined): Open | undefined {
  const text = textOfBlock(block)
  const time = block.kind === 'text' ? block.time : undefined
  const date = dateIn(time ?? text)
  const level = levelIn(block, current)
  if (level === undefined) {
    // The line after a version heading may contain the date.
    if (current && current.date === null && current.lines.length === 0 && date) current.date = date
    return undefined
  }
  const version = VERSION.exec(text)?.[1] ?? null
  if (date === null && (version === null || (current !== undefined && level > current.level))) return undefined
  return { date, version, level, section: { text: '', level: 0, at: 0 }, lines: [], sections: [] }
}

/** Moves the lines between the title of an entry and its date from the entry before, if the title is a heading above. */
function withTitled(begun: Open, { section, lines, sections }: Open): Open {
  const isTitled = section.text !== '' && section.level < begun.level && lines.length - section.at <= MAX_BEFORE_DATE
  if (!isTitled) return begun
  sections.splice(section.at)
  begun.lines.push(...lines.splice(section.at))
  begun.sections.push(...begun.lines.map(() => ''))
  return begun
}

function add(entry: Open, block: Block): void {
  if (block.kind === 'heading') {
    entry.section = { text: block.text, level: block.level, at: entry.lines.length }
    return
  }
  // Code shows an example of the line above.
  if (block.kind === 'code') return
  if (block.kind === 'item' && block.isMore && entry.lines.length > entry.section.at) {
    const whole = `${entry.lines.pop()} ${block.text}`
    entry.lines.push(whole.slice(0, MAX_LINE_CHARS).toWellFormed())
    return
  }
  const lines = block.kind === 'text' ? sentencesOf(block.text) : linesOf(block)
  for (const line of lines) {
    if (line === '' || isDate(line)) continue
    entry.lines.push(line.slice(0, MAX_LINE_CHARS).toWellFormed())
    entry.sections.push(entry.section.text)
  }
}

function linesOf(block: Block): string[] {
  return block.kind === 'table' ? block.rows.map((row) => row.join(' — ')) : [textOfBlock(block)]
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])\s+(?=[A-Z])/).map((sentence) => sentence.trim())
}

type Item = { title: string; date: string; link: string; body: string }

/** Parses Atom (RFC 4287) and RSS 2.0. Stops at a syntax error, and never loads external entities. */
function feedEntries(text: string): ChangelogEntry[] {
  const items: Item[] = []
  const path: string[] = []
  const parser = new SaxesParser()
  const current = () => (path.includes('entry') || path.includes('item') ? items.at(-1) : undefined)
  const take = (data: string) => {
    const item = current()
    const name = path.at(-1)
    if (!item || name === undefined) return
    if (name === 'title') item.title += data
    else if (/^(updated|published|pubDate|dc:date)$/.test(name)) item.date ||= data.trim()
    else if (name === 'link') item.link ||= data.trim()
    else if (/^(content|summary|description|content:encoded)$/.test(name)) item.body += data
  }
  parser.on('opentag', ({ name, attributes }) => {
    path.push(name)
    if ((name === 'entry' || name === 'item') && items.length < MAX_ENTRIES)
      items.push({ title: '', date: '', link: '', body: '' })
    const item = current()
    if (item && name === 'link' && attributes['href'] !== undefined) item.link ||= String(attributes['href'])
  })
  parser.on('closetag', () => void path.pop())
  parser.on('text', take)
  parser.on('cdata', take)
  parser.on('error', () => undefined) // entries before the error are kept
  parser.write(text).close()
  return items.map(entryOf)
}

function entryOf({ title, date, link, body }: Item): ChangelogEntry {
  const at = Date.parse(date)
  const blocks = visibleBlocks(parseHtml(body)).flatMap(sentencesOf)
  // An entry without a body gets its title as its text.
  const lines = (blocks.length > 0 ? blocks : [title]).map((line) => line.slice(0, MAX_LINE_CHARS).toWellFormed())
  return {
    date: Number.isNaN(at) ? dateIn(date) : new Date(at).toISOString().slice(0, 10),
    version: VERSION.exec(title)?.[1] ?? null,
    ...(URL.canParse(link) ? { url: link } : {}),
    lines,
    sections: lines.map(() => ''),
  }
}
