import { widthOf } from '../../src/text/text.ts'
import { type Line, lineWidth, type Piece } from '../../src/tui/parts/line.ts'
import { type Ground, type Theme, type Tone, themesOf } from '../../src/tui/parts/palettes.ts'
import { type Box, shapeOf } from './shapes.ts'

/*
 * A frame of the cockpit as a picture: words stay words, in the colors of the dark truecolor palette; rules, bars and
 * charts are drawn, so that no font tears them, and every run of text is as wide as its columns.
 */

const CELL = { width: 8, height: 18 } as const
/** From the top of a row to the foot of its letters. */
const BASELINE = 13
const FONT_SIZE = 13.3
const PAD = 12
const RADIUS = 8
const { dark: theme } = themesOf.default
/** What a terminal of this kind has of its own. */
const OWN = { text: '#C9D1D9', ground: '#0D1117' } as const
const FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

type Run = { readonly text: string; readonly column: number; readonly row: number; readonly tone: Tone }

/** @param title - what it shows, for who cannot see it. */
export function svgOf(lines: readonly Line[], title: string): string {
  const columns = Math.max(...lines.map(lineWidth))
  const size = { width: columns * CELL.width + 2 * PAD, height: lines.length * CELL.height + 2 * PAD }
  const grounds = lines.flatMap(groundsOf)
  const cells = lines.flatMap(runsOf)
  const tones = [...new Set(cells.map(({ tone }) => tone))].toSorted()
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${size.width}" height="${size.height}" viewBox="0 0 ${size.width} ${size.height}">`,
    `<title>${escaped(title)}</title>`,
    `<style>text{font:${FONT_SIZE}px ${FONTS};white-space:pre}${tones.map(styleOf).join('')}</style>`,
    `<rect width="${size.width}" height="${size.height}" rx="${RADIUS}" fill="${OWN.ground}"/>`,
    `<g transform="translate(${PAD} ${PAD})">`,
    ...grounds,
    ...tones.flatMap((tone) => drawn(cells, tone)),
    ...cells.filter(({ text }) => !isShape(text)).map(textOf),
    '</g>',
    '</svg>',
  ].join('\n')}\n`
}

function styleOf(tone: Tone): string {
  if (tone === 'plain') return `.plain{fill:${OWN.text}}`
  if (tone === 'active' || tone === 'alarm') return `.${tone}{fill:${theme.onAccent.rgb}}`
  const { color, bold }: Theme['tones']['dim'] = theme.tones[tone]
  return `.${tone}{fill:${color.rgb}${bold ? ';font-weight:700' : ''}}`
}

const colorOf = (ground: Ground | 'active'): string =>
  ground === 'active' ? theme.tones.accent.color.rgb : theme.grounds[ground].rgb

function groundsOf(line: Line, row: number): string[] {
  const found: { ground: Ground | 'active'; column: number; width: number }[] = []
  let column = 0
  for (const piece of line) {
    const width = widthOf(wordsOf(piece))
    const ground = groundOf(piece)
    const last = found.at(-1)
    if (last && last.ground === ground && last.column + last.width === column) last.width += width
    else if (ground !== undefined) found.push({ ground, column, width })
    column += width
  }
  return found.map(
    ({ ground, column: at, width }) =>
      `<rect x="${at * CELL.width}" y="${row * CELL.height}" width="${width * CELL.width}" height="${CELL.height}" fill="${colorOf(ground)}"/>`,
  )
}

function groundOf(piece: Piece): Ground | 'active' | undefined {
  if (typeof piece === 'string') return undefined
  return piece.tone === 'active' ? 'active' : piece.ground
}

function wordsOf(piece: Piece): string {
  return typeof piece === 'string' ? piece : piece.text
}

/** Stretches of words, and of what is drawn; blanks between them are nothing. */
function runsOf(line: Line, row: number): Run[] {
  const runs: Run[] = []
  let column = 0
  for (const piece of line) {
    const tone = typeof piece === 'string' ? 'plain' : piece.tone
    for (const [text] of wordsOf(piece).matchAll(STRETCH)) {
      if (text.trim() !== '') runs.push({ text, column, row, tone })
      column += widthOf(text)
    }
  }
  return runs
}

const STRETCH = /[─-▟]+|[^─-▟\s]+(?: [^─-▟\s]+)*|\s+/gu
const isShape = (text: string): boolean => /^[─-▟]/u.test(text)

function drawn(runs: readonly Run[], tone: Tone): string[] {
  const parts = runs
    .filter((run) => run.tone === tone && isShape(run.text))
    .flatMap(({ text, column, row }) => joined(text).map((box) => pathOf(box, column, row)))
  return parts.length === 0 ? [] : [`<path class="${tone}" d="${parts.join('')}"/>`]
}

/** Boxes of a stretch in cells from its first column; those that touch and are alike become one. */
function joined(text: string): Box[] {
  const boxes: Box[] = []
  for (const [at, char] of [...text].entries()) {
    for (const [x, y, width, height] of shapeOf(char)) {
      const left = boxes.findIndex(([bx, by, bw, bh]) => by === y && bh === height && bx + bw === at + x)
      const known = boxes[left]
      if (known) boxes[left] = [known[0], y, known[2] + width, height]
      else boxes.push([at + x, y, width, height])
    }
  }
  return boxes
}

function pathOf([x, y, width, height]: Box, column: number, row: number): string {
  const [left, top] = [(column + x) * CELL.width, (row + y) * CELL.height]
  const [wide, high] = [width * CELL.width, height * CELL.height].map(figure)
  return `M${figure(left)} ${figure(top)}h${wide}v${high}h-${wide}z`
}

const figure = (value: number): string => String(Math.round(value * 100) / 100)

function textOf({ text, column, row, tone }: Run): string {
  const width = widthOf(text)
  const length = width > 1 ? ` textLength="${width * CELL.width}"` : ''
  return `<text class="${tone}" x="${column * CELL.width}" y="${row * CELL.height + BASELINE}"${length}>${escaped(text)}</text>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
