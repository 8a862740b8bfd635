import { type HtmlNode, parseHtml } from '../web/html.ts'
import { decode, isHtml, type WebPage } from '../web/page.ts'

/** What a document consists of, in its order. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'text'; readonly text: string; readonly time?: string }
  | { readonly kind: 'item'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] }

const MAX_BLOCKS = 20_000
const MAX_ROWS = 500
const skipped = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'nav',
  'footer',
  'select',
  'title',
  'head',
  'button',
])
const spans = new Set(
  'a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)
const HEADING = /^h([1-6])$/

/** Blocks of a page of HTML or Markdown; its navigation and foot are left out. */
export function blocksOfPage(page: WebPage): Block[] {
  const text = decode(page)
  return isHtml(page) || /^\s*<(!doctype|html)/i.test(text) ? htmlBlocks(parseHtml(text)) : markdownBlocks(text)
}

export function htmlBlocks(root: HtmlNode): Block[] {
  const walk = walker()
  walk.into(root)
  walk.flush()
  return walk.blocks
}

type Walk = {
  readonly blocks: Block[]
  /** Text since the last block. */
  open: string[]
  time: string | undefined
  readonly flush: (as?: 'text' | 'item') => void
  readonly into: (node: HtmlNode) => void
}

/** `parseHtml` bounds the depth, so going down by calls is safe. */
function walker(): Walk {
  const walk: Walk = {
    blocks: [],
    open: [],
    time: undefined,
    flush(as = 'text') {
      const text = oneLine(walk.open.join(''))
      walk.open = []
      const { time } = walk
      walk.time = undefined
      if (text !== '')
        put(walk, as === 'item' ? { kind: 'item', text } : { kind: 'text', text, ...(time ? { time } : {}) })
    },
    into(node) {
      if (node.type === 'text') walk.open.push(node.data ?? '')
      else if (!skipped.has(node.name ?? '')) element(walk, node)
    },
  }
  return walk
}

function put(walk: Walk, block: Block): void {
  if (walk.blocks.length < MAX_BLOCKS) walk.blocks.push(block)
}

function element(walk: Walk, node: HtmlNode): void {
  const name = node.name ?? ''
  if (name === 'time') walk.time = node.attribs?.['datetime'] ?? walk.time
  if (spans.has(name)) into(walk, node)
  else blockElement(walk, node, name)
}

function blockElement(walk: Walk, node: HtmlNode, name: string): void {
  walk.flush()
  const level = HEADING.exec(name)?.[1]
  if (level !== undefined) put(walk, { kind: 'heading', level: Number(level), text: oneLine(rawText(node)) })
  else if (name === 'pre') put(walk, { kind: 'code', text: rawText(node).trim() })
  else if (name === 'table') put(walk, { kind: 'table', rows: rowsOf(node, ['tr'], ['td', 'th']) })
  else if (name === 'dl') put(walk, { kind: 'table', rows: pairsOf(node) })
  else {
    into(walk, node)
    walk.flush(name === 'li' ? 'item' : 'text')
  }
}

function into(walk: Walk, node: HtmlNode): void {
  for (const child of node.children ?? []) walk.into(child)
}

export function rawText(node: HtmlNode): string {
  if (node.type === 'text') return node.data ?? ''
  if (node.name === 'br') return '\n'
  return node.name !== undefined && skipped.has(node.name) ? '' : (node.children ?? []).map(rawText).join('')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Elements of some names, none inside another of them. */
function within(node: HtmlNode, names: readonly string[]): HtmlNode[] {
  return (node.children ?? []).flatMap((child) => (names.includes(child.name ?? '') ? [child] : within(child, names)))
}

function rowsOf(node: HtmlNode, row: readonly string[], cell: readonly string[]): string[][] {
  const rows = within(node, row).slice(0, MAX_ROWS)
  return rows.map((one) => within(one, cell).map((cell) => oneLine(rawText(cell)))).filter((cells) => cells.length > 0)
}

function pairsOf(node: HtmlNode): string[][] {
  const rows: string[][] = []
  for (const child of within(node, ['dt', 'dd']).slice(0, MAX_ROWS)) {
    const text = oneLine(rawText(child))
    if (child.name === 'dt') rows.push([text])
    else rows.at(-1)?.push(text)
  }
  return rows
}

/** Enough of CommonMark to know headings, lists, code and tables apart. */
export function markdownBlocks(text: string): Block[] {
  const state: Reading = { blocks: [], open: [], fence: undefined }
  for (const line of text.split(/\r?\n/)) {
    if (state.blocks.length >= MAX_BLOCKS) break
    readLine(state, line)
  }
  flushText(state)
  if (state.fence) state.blocks.push({ kind: 'code', text: state.fence.join('\n').trim() })
  return state.blocks
}

type Reading = { readonly blocks: Block[]; open: string[]; fence: string[] | undefined }

function flushText(state: Reading): void {
  if (state.open.length > 0) state.blocks.push({ kind: 'text', text: plainMarkdown(state.open.join(' ')) })
  state.open = []
}

function readLine(state: Reading, line: string): void {
  if (/^\s*(```|~~~)/.test(line)) toggleFence(state)
  else if (state.fence) state.fence.push(line)
  else if (line.trim() === '') flushText(state)
  else {
    const block = markdownLine(line, state.blocks)
    if (block === undefined) state.open.push(line.trim())
    else flushText(state)
    if (block) state.blocks.push(block)
  }
}

function toggleFence(state: Reading): void {
  flushText(state)
  if (state.fence) state.blocks.push({ kind: 'code', text: state.fence.join('\n').trim() })
  state.fence = state.fence ? undefined : []
}

/** Undefined for a line of text, null for one that belongs to the block before. */
function markdownLine(line: string, blocks: Block[]): Block | null | undefined {
  const heading = /^(#{1,6})\s+(.+?)\s*#*$/.exec(line)
  if (heading) return { kind: 'heading', level: heading[1]?.length ?? 1, text: plainMarkdown(heading[2] ?? '') }
  const item = /^\s*(?:[-*+]|\d+[.)])\s+(.+)$/.exec(line)
  if (item) return { kind: 'item', text: plainMarkdown(item[1] ?? '') }
  if (!/^\s*\|.*\|\s*$/.test(line)) return undefined
  const cells = line
    .trim()
    .slice(1, -1)
    .split('|')
    .map((cell) => plainMarkdown(cell))
  if (cells.every((cell) => /^:?-{2,}:?$/.test(cell))) return null
  const last = blocks.at(-1)
  if (last?.kind !== 'table') return { kind: 'table', rows: [cells] }
  blocks[blocks.length - 1] = { kind: 'table', rows: [...last.rows, cells].slice(0, MAX_ROWS) }
  return null
}

function plainMarkdown(text: string): string {
  return oneLine(
    text.replace(/!?\[([^\]]{0,300})\]\([^)]{0,2000}\)/g, '$1').replace(/[*_]{2}([^*_]+)[*_]{2}|`([^`]+)`/g, '$1$2'),
  )
}

/** Everything that a block says, as one text. */
export function textOfBlock(block: Block): string {
  return block.kind === 'table' ? block.rows.map((row) => row.join(' | ')).join('\n') : block.text
}
