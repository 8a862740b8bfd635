import { padEnd, take, widthOf } from '../../text/text.ts'
import { blank, type Line, lineWidth, type Piece, textOf } from './line.ts'

/** From this width a list has a pane at its right. A box is then drawn at the left and leaves the pane visible. */
const PANE_COLUMNS = 150
const BOX_INDENT = 2

type Area = { readonly width: number; readonly height: number }

/** Draws a box over a screen. The chosen row stays visible if there is room above or below it. */
export function floating(box: readonly Line[], under: readonly Line[], { width, height }: Area): Line[] {
  const columns = lineWidth(box[0] ?? blank)
  const from = width >= PANE_COLUMNS ? BOX_INDENT : Math.floor((width - columns) / 2)
  const top = topOf(box.length, chosenAt(under), height)
  return Array.from({ length: height }, (_, row) => {
    const line = under[row] ?? blank
    const over = box[row - top]
    return over === undefined ? line : covered(line, over, [from, from + columns])
  })
}

const groundOf = (piece: Piece) => (typeof piece === 'string' ? undefined : piece.ground)
/** Row of the chosen one; -1 if there is none. */
export const chosenAt = (lines: readonly Line[]): number => lines.findIndex(isChosen)
const isChosen = (line: Line) => line.some((piece) => groundOf(piece) === 'chosen')

/** Row where the box begins: in the middle, or below or above the chosen row if the box would cover that row. */
function topOf(rows: number, chosen: number, height: number): number {
  const least = Math.max(0, height - rows)
  const middle = Math.floor(least / 2)
  if (chosen < middle || chosen >= middle + rows) return middle
  if (chosen + 1 <= least) return chosen + 1
  return chosen >= rows ? chosen - rows : least
}

/** Text between blanks and hairlines. */
const WORD = /[^\s─│┬┼┴]+/gu

/** Draws a row of the box. Words that the box would cut are dropped, since a part of an id could be misread. */
function covered(line: Line, over: Line, edges: readonly [from: number, to: number]): Line {
  const text = textOf(line)
  const whole = text.replace(WORD, (word, at: number) => {
    const start = widthOf(text.slice(0, at))
    const end = start + widthOf(word)
    return edges.some((edge) => start < edge && edge < end) ? ' '.repeat(end - start) : word
  })
  const [from, to] = edges
  const beside = (shown: string): Piece =>
    isChosen(line) ? { text: shown, tone: 'dim', ground: 'chosen' } : { text: shown, tone: 'dim' }
  const right = whole.slice(take(whole, to).length)
  return [beside(padEnd(take(whole, from), from)), ...over, beside(right)]
}
