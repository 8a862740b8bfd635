import { keysOf, tableOf } from '../../core/record.ts'
import { inAscii, type PaletteName } from '../../text/text.ts'
import type { Line, Piece } from './line.ts'
import { type Depth, type Ground, type Theme, type ThemeName, type Tone, themesOf } from './palettes.ts'

export type Look = {
  /** Undefined without colors. */
  readonly palette: PaletteName | undefined
  readonly ascii: boolean
  readonly theme: ThemeName
  readonly depth: Depth
  /** Colors of the user's own (default: those of palette and theme). */
  readonly skin?: Theme | undefined
}

/** SGR parameters by tone and background. Empty if a tone has none. */
export type Styles = {
  readonly tones: Readonly<Record<Tone, string>>
  readonly grounds: Readonly<Record<Ground, string>>
  /** Whether the chosen row is shown inverted and loses its tones. */
  readonly isTurned: boolean
}

const mono: Styles = {
  tones: {
    plain: '',
    dim: '',
    hair: '',
    strong: '1',
    good: '',
    warn: '1',
    bad: '1',
    accent: '4',
    active: '7',
    alarm: '7',
    chart1: '',
    chart2: '',
    chart3: '',
    chart4: '',
  },
  grounds: { chosen: '7', bar: '', remote: '' },
  isTurned: true,
}

const known = new WeakMap<Theme, Partial<Record<Depth, Styles>>>()

/** The SGR parameters for a look. */
export function stylesOf({ palette = 'mono', theme: name, depth, skin }: Look): Styles {
  if (palette === 'mono') return mono
  const theme = skin ?? themesOf[palette][name]
  const found = known.get(theme)?.[depth] ?? colored(theme, depth)
  known.set(theme, { ...known.get(theme), [depth]: found })
  return found
}

type Color = Theme['onAccent']

function colored({ tones, onAccent, grounds }: Theme, depth: Depth): Styles {
  const isTurned = depth === '16'
  const of = ({ color, bold }: Theme['tones']['dim']) => `${bold ? '1;' : ''}${foreground(color, depth)}`
  return {
    tones: {
      plain: '',
      strong: isTurned ? '1' : of(tones.strong),
      dim: of(tones.dim),
      hair: isTurned ? '2' : of(tones.hair),
      good: of(tones.good),
      warn: of(tones.warn),
      bad: of(tones.bad),
      accent: of(tones.accent),
      active: isTurned ? '7' : `${foreground(onAccent, depth)};${background(tones.accent.color, depth)}`,
      alarm: isTurned ? `7;${of(tones.bad)}` : `1;${foreground(onAccent, depth)};${background(tones.bad.color, depth)}`,
      chart1: of(tones.chart1),
      chart2: of(tones.chart2),
      chart3: of(tones.chart3),
      chart4: of(tones.chart4),
    },
    grounds: isTurned ? mono.grounds : tableOf(keysOf(grounds), (name) => background(grounds[name], depth)),
    isTurned,
  }
}

function foreground({ rgb, xterm, ansi }: Color, depth: Depth): string {
  if (depth === '16') return String(ansi)
  return depth === '256' ? `38;5;${xterm}` : `38;2;${channels(rgb).join(';')}`
}

function background({ rgb, xterm }: Color, depth: Depth): string {
  return depth === '256' ? `48;5;${xterm}` : `48;2;${channels(rgb).join(';')}`
}

/** Channels of `#RRGGBB`. */
export function channels(rgb: string): readonly [number, number, number] {
  const value = Number.parseInt(rgb.slice(1), 16)
  return [value >> 16, (value >> 8) & 0xff, value & 0xff]
}

const RESET = '\u001B[0m'

/** A row as text for the terminal. Plain text if the look has no palette. */
export function paint(line: Line, look: Look): string {
  return paintedPieces(line, look).join('')
}

/** A row for the terminal, piece by piece. Each piece sets and resets its own style. */
export function paintedPieces(line: Line, look: Look): readonly string[] {
  const styles = look.palette === undefined ? undefined : stylesOf(look)
  return line.map((piece) => paintPiece(piece, look.ascii, styles))
}

/** Control characters, which could move the terminal's cursor. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
const CONTROLS = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g

function paintPiece(piece: Piece, ascii: boolean, styles: Styles | undefined): string {
  const text = (typeof piece === 'string' ? piece : piece.text).replaceAll(CONTROLS, ' ')
  const shown = ascii ? inAscii(text) : text
  if (styles === undefined || typeof piece === 'string' || shown === '') return shown
  const style = styleOf(piece, styles)
  return style === '' ? shown : `\u001B[${style}m${shown}${RESET}`
}

/** SGR parameters of tone and background together. */
function styleOf({ tone, ground }: Exclude<Piece, string>, { tones, grounds, isTurned }: Styles): string {
  if (ground === undefined) return tones[tone]
  if (ground === 'chosen' && isTurned) return grounds.chosen
  return [tones[tone], grounds[ground]].filter(Boolean).join(';')
}
