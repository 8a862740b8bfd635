import { widthOf } from '../../text/text.ts'
import { type Line, lineWidth, type Piece } from './line.ts'
import { type Theme, type Tone, themesOf } from './palettes.ts'
import type { Look } from './theme.ts'

const [WIDTH, HEIGHT, BASELINE, PAD] = [8, 18, 13, 12]
/** Text and background of a usual terminal. */
const owns = { dark: ['#C9D1D9', '#0D1117'], light: ['#1F2328', '#FFFFFF'] } as const
/** Tones that fill their cells with a color. */
const fills: Readonly<Partial<Record<Tone, 'accent' | 'bad'>>> = { active: 'accent', alarm: 'bad' }
const marks: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A frame as a picture in SVG. Each piece is as wide as its columns, whatever the font. */
export function svgOf(lines: readonly Line[], { theme, skin }: Pick<Look, 'theme' | 'skin'>): string {
  const [ink, paper] = owns[theme]
  const colors = skin ?? themesOf.default[theme]
  const drawn = lines.flatMap((line, row) =>
    line.map((piece, i) => pieceOf(piece, { x: lineWidth(line.slice(0, i)) * WIDTH, y: row * HEIGHT, colors, ink })),
  )
  const columns = Math.max(0, ...lines.map(lineWidth))
  const size = `width="${columns * WIDTH + 2 * PAD}" height="${lines.length * HEIGHT + 2 * PAD}"`
  const style = '<style>text{font:13px ui-monospace,Menlo,Consolas,monospace;white-space:pre}</style>'
  const ground = `<rect width="100%" height="100%" fill="${paper}"/><g transform="translate(${PAD} ${PAD})">`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${style}${ground}\n${drawn.join('')}</g></svg>\n`
}

type Cell = { readonly x: number; readonly y: number; readonly colors: Theme; readonly ink: string }

function pieceOf(piece: Piece, { x, y, colors: { tones, grounds, onAccent }, ink }: Cell): string {
  const own = typeof piece === 'string' ? ({ text: piece, tone: 'plain' } as const) : piece
  const { text, tone } = own
  const fill = fills[tone]
  const under = fill === undefined ? 'ground' in own && own.ground && grounds[own.ground].rgb : tones[fill].color.rgb
  const known = tone === 'plain' || tone === 'active' || tone === 'alarm' ? ink : tones[tone].color.rgb
  const width = widthOf(text) * WIDTH
  const color = fill === undefined ? known : onAccent.rgb
  const box = under ? `<rect x="${x}" y="${y}" width="${width}" height="${HEIGHT}" fill="${under}"/>\n` : ''
  // XML has no control characters.
  const clean = text.toWellFormed().replace(/[\p{Cc}\uFFFE\uFFFF]/gu, ' ')
  const words = clean.replace(/[&<>]/g, (found) => marks[found] ?? '')
  if (clean.trim() === '') return box
  return `${box}<text x="${x}" y="${y + BASELINE}" textLength="${width}" fill="${color}">${words}</text>\n`
}
