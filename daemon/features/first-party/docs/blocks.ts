import { documentOf, type HtmlNode, inline, isHidden, markdownDocument, oneLine } from '../web/document.ts'
import type { WebPage } from '../web/page.ts'

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'text'; readonly text: string; readonly time?: string }
  | {
      readonly kind: 'item'
      readonly text: string /** Whether it is a further paragraph of the item before. */
      readonly isMore?: true
    }
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
const HEADING = /^h([1-6])$/

/** Blocks of an HTML or Markdown page, without navigation and footer. */
export function blocksOfPage(page: WebPage): Block[] {
  return htmlBlocks(documentOf(page))
}

export function markdownBlocks(text: string): Block[] {
  return htmlBlocks(markdownDocument(text))
}

export function htmlBlocks(root: HtmlNode): Block[] {
  const walk = walker()
  walk.into(root)
  walk.flush()
  return walk.blocks
}

type Walk = {
  readonly blocks: Block[]
  /** Text read since the last block. */
  open: string[]
  time: string | undefined
  /** Number of open list items; text inside a list item becomes an `item` block. */
  items: number
  /** Whether the open list item has a block already. */
  hasItem: boolean
  readonly flush: () => void
  readonly into: (node: HtmlNode) => void
}

/** Recursion is safe, since `parseHtml` limits the depth. */
function walker(): Walk {
  const walk: Walk = {
    blocks: [],
    open: [],
    time: undefined,
    items: 0,
    hasItem: false,
    flush() {
      const text = oneLine(walk.open.join(''))
      walk.open = []
      const { time } = walk
      walk.time = undefined
      if (text === '') return
      if (walk.items === 0) return put(walk, { kind: 'text', text, ...(time ? { time } : {}) })
      put(walk, { kind: 'item', text, ...(walk.hasItem ? { isMore: true } : {}) })
      walk.hasItem = true
    },
    into(node) {
      if (node.type === 'text') walk.open.push(node.data ?? '')
      else if (!skipped.has(node.name ?? '') && !isHidden(node)) element(walk, node)
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
  if (inline.has(name)) into(walk, node)
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
    if (name === 'li') {
      walk.items += 1
      walk.hasItem = false
    }
    into(walk, node)
    walk.flush()
    if (name === 'li') {
      walk.items -= 1
      walk.hasItem = true
    }
  }
}

function into(walk: Walk, node: HtmlNode): void {
  for (const child of node.children ?? []) walk.into(child)
}

export function rawText(node: HtmlNode): string {
  if (node.type === 'text') return node.data ?? ''
  if (node.name === 'br') return '\n'
  if (isHidden(node) || (node.name !== undefined && skipped.has(node.name))) return ''
  return (node.children ?? []).reduce((text, child) => {
    const own = rawText(child)
    return text + (slanted.has(child.name ?? '') && IN_PATH.test(text) && /^\w+$/.test(own) ? `{${own}}` : own)
  }, '')
}

/** Elements that stand for a variable in a path, such as `/ducks/<i>name</i>`. */
const slanted = new Set(['i', 'em', 'var'])
const IN_PATH = /(?:^|\s)\/(?:\S*\/)?$/

/** Outermost elements with one of the names. */
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

export function textOfBlock(block: Block): string {
  return block.kind === 'table' ? block.rows.map((row) => row.join(' | ')).join('\n') : block.text
}
