import { widthOf } from '../../text/text.ts'
import type { Line, Tone } from './line.ts'

export const palettes = ['default', 'cb', 'mono'] as const
export type PaletteName = (typeof palettes)[number]

/** Parameters of the escape sequence that begins a tone. */
type Palette = Readonly<Record<Tone, string>>

const common = { plain: '', dim: '2', strong: '1' } as const
const table: Readonly<Record<PaletteName, Palette>> = {
  default: { ...common, good: '32', warn: '33', bad: '31', accent: '36' },
  // Blue and orange: told apart with any of the common colour blindnesses.
  cb: { ...common, good: '38;5;39', warn: '38;5;220', bad: '1;38;5;208', accent: '38;5;117' },
  mono: { ...common, good: '', warn: '1', bad: '7', accent: '4' },
}

// One column for one column, so that the plain signs never change a layout.
const plainSigns: Readonly<Record<string, string>> = {
  '●': '*',
  '○': 'o',
  '‖': '#',
  '×': 'x',
  '✓': '+',
  '✗': 'X',
  '–': '-',
  '—': '-',
  '↩': '<',
  '▪': '>',
  '─': '-',
  '│': '|',
  '═': '=',
  '║': '|',
  '╔': '+',
  '╗': '+',
  '╚': '+',
  '╝': '+',
  '┌': '+',
  '┐': '+',
  '└': '+',
  '┘': '+',
  '…': '~',
  '·': '.',
  '→': '>',
  '←': '<',
  '↑': '^',
  '↓': 'v',
  '⟳': '@',
  '▲': '^',
  '▼': 'v',
  '▏': '_',
}
const NOT_ASCII = /[^\u0020-\u007E]/gu

export type Look = { readonly palette: PaletteName | undefined; readonly ascii: boolean }

/** A row as the terminal gets it; without a palette it is plain text. */
export function paint(line: Line, { palette, ascii }: Look): string {
  return line
    .map((piece) => {
      const text = typeof piece === 'string' ? piece : piece.text
      const shown = ascii ? text.replace(NOT_ASCII, (char) => plainSigns[char] ?? '?'.repeat(widthOf(char))) : text
      const style = palette === undefined || typeof piece === 'string' ? '' : table[palette][piece.tone]
      return style === '' || shown === '' ? shown : `\u001B[${style}m${shown}\u001B[0m`
    })
    .join('')
}
