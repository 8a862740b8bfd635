import { isObject } from '../../core/json.ts'
import { keysOf, tableOf } from '../../core/record.ts'
import { didYouMean } from '../../text/text.ts'
import { markTones, type Theme, type ThemeName, textTones, themes, themesOf } from './palettes.ts'
import { channels, type Look } from './theme.ts'

type Rgb = readonly number[]

/** Least WCAG 2 contrast of text, and of charts. */
const TEXT_CONTRAST = 4.5
const CHART_CONTRAST = 3

/** Backgrounds of usual terminals. */
const terminalGrounds = {
  dark: ['#000000', '#0D1117', '#1E1E1E', '#282C34'],
  light: ['#FFFFFF', '#FDF6E3', '#F0F2F6'],
} as const

function luminance(color: Rgb): number {
  const [r = 0, g = 0, b = 0] = color.map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** Contrast as in WCAG 2, from 1 to 21. */
function contrast(one: Rgb, other: Rgb): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

/** The first of xterm's 256 colors that no terminal lets its owner change, and the first gray. */
const [CUBE_FIRST, GRAY_FIRST, XTERM_END] = [16, 232, 256] as const

/** RGB of one of xterm's colors from 16 on. */
function xtermRgb(index: number): Rgb {
  if (index >= GRAY_FIRST) return Array(3).fill(8 + (index - GRAY_FIRST) * 10)
  const cube = index - CUBE_FIRST
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40)
  return [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level)
}

const away = (one: Rgb, other: Rgb) => one.reduce((sum, value, i) => sum + (value - (other[i] ?? 0)) ** 2, 0)
const indexes = Array.from({ length: XTERM_END - CUBE_FIRST }, (_, i) => CUBE_FIRST + i)

/** The xterm color that is closest to `#RRGGBB`. */
function nearestXterm(rgb: string): number {
  const wanted = channels(rgb)
  return indexes.reduce((best, one) => (away(xtermRgb(one), wanted) < away(xtermRgb(best), wanted) ? one : best))
}

const HEX = /^#[0-9a-f]{6}$/i

/**
 * Reads a skin: colors over those of the built-in theme that it names as `base`. One with a fault is not used.
 * @param written - parsed JSON of the file
 */
export function skinOf(written: unknown, { palette, theme: usual, depth }: Pick<Look, 'palette' | 'theme' | 'depth'>) {
  const { base = usual, ...colors } = isObject(written) ? written : { base: written }
  const theme = themes.find((name) => name === base)
  const under = themesOf[palette === 'cb' ? 'cb' : 'default'][theme ?? usual]
  const names = [...Object.keys(under.tones), ...Object.keys(under.grounds), 'onAccent']
  const faults = Object.entries(colors).flatMap(([name, value]) => {
    if (!names.includes(name)) return [`there is no color "${name}"${didYouMean(name, names)}`]
    return typeof value === 'string' && HEX.test(value) ? [] : [`${name} must be a color such as "#8AA4FF"`]
  })
  if (theme === undefined) faults.unshift('it must be an object whose "base" is "dark" or "light"')
  const skin = faults.length === 0 ? mixed(under, colors) : under
  const all = faults.length === 0 ? contrastFaults(skin, theme ?? usual, depth) : faults
  return { theme: theme ?? usual, skin: all.length === 0 ? skin : undefined, faults: all }
}

function mixed({ tones, grounds, onAccent }: Theme, colors: Readonly<Record<string, unknown>>): Theme {
  const of = (name: string, known: Theme['onAccent']) => {
    const rgb = colors[name]
    return typeof rgb === 'string' ? { ...known, rgb, xterm: nearestXterm(rgb) } : known
  }
  return {
    tones: tableOf(keysOf(tones), (name) => ({ ...tones[name], color: of(name, tones[name].color) })),
    grounds: tableOf(keysOf(grounds), (name) => of(name, grounds[name])),
    onAccent: of('onAccent', onAccent),
  }
}

/** What of a theme cannot be read, in words. Colors of 16 are the terminal's own, so they are not checked. */
export function contrastFaults({ tones, onAccent, grounds }: Theme, theme: ThemeName, depth: Look['depth']): string[] {
  if (depth === '16') return []
  const shown = ({ rgb, xterm }: Theme['onAccent']) => (depth === '256' ? xtermRgb(xterm) : channels(rgb))
  const under: (readonly [name: string, color: Rgb])[] = [
    ...terminalGrounds[theme].map((rgb) => [`a terminal of ${rgb}`, channels(rgb)] as const),
    ...keysOf(grounds).map((name) => [name, shown(grounds[name])] as const),
  ]
  const filled = (['accent', 'bad'] as const).map((name) => [name, shown(tones[name].color)] as const)
  const pairs = [
    ...textTones.map((name) => ({ name, color: tones[name].color, under, least: TEXT_CONTRAST })),
    ...markTones.map((name) => ({ name, color: tones[name].color, under, least: CHART_CONTRAST })),
    { name: 'onAccent', color: onAccent, under: filled, least: TEXT_CONTRAST },
  ]
  return pairs.flatMap(({ name, color, under: all, least }) =>
    all.flatMap(([ground, rgb]) => {
      const found = contrast(shown(color), rgb)
      if (found >= least) return []
      return [`${name} ${color.rgb} on ${ground} has contrast ${found.toFixed(1)}; it needs ${least}`]
    }),
  )
}
