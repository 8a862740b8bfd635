import { describe, expect, it } from 'vitest'
import { palettes } from '../../text/text.ts'
import { dim, good, grounded, strong } from './line.ts'
import { depths, markTones, textTones, themes, themesOf } from './palettes.ts'
import { channels, type Look, paint, stylesOf } from './theme.ts'

/* Everybody can read it: contrast is reckoned as WCAG 2 does, against every ground that a terminal of the kind has. */

const TEXT = 4.5
const MARKS = 3
const grounds = {
  dark: ['#000000', '#0D1117', '#1E1E1E', '#282C34'],
  light: ['#FFFFFF', '#FDF6E3', '#F0F2F6'],
} as const

type Rgb = readonly number[]

function luminance(color: Rgb): number {
  const [r = 0, g = 0, b = 0] = color.map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(one: Rgb, other: Rgb): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

/** Of the 256 colors of xterm, those that no terminal lets its owner change. */
function xterm(place: number): Rgb {
  if (place >= 232) return Array(3).fill(8 + (place - 232) * 10)
  const cube = place - 16
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40)
  return [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level)
}

const colored = palettes.filter((name) => name !== 'mono')
const all = colored.flatMap((palette) =>
  themes.flatMap((theme) => (['truecolor', '256'] as const).map((depth) => [palette, theme, depth] as const)),
)

describe.each(all)('%s, %s, %s', (palette, theme, depth) => {
  const { tones, onAccent, grounds: painted } = themesOf[palette][theme]
  const of = (color: { rgb: string; xterm: number }): Rgb =>
    depth === '256' ? xterm(color.xterm) : channels(color.rgb)
  const under = [...grounds[theme].map(channels), ...Object.values(painted).map(of)]

  it.each(textTones)('%s can be read on every ground', (tone) => {
    for (const ground of under) expect(contrast(of(tones[tone].color), ground)).toBeGreaterThanOrEqual(TEXT)
  })

  it.each(markTones)('%s can be told on every ground', (tone) => {
    for (const ground of under) expect(contrast(of(tones[tone].color), ground)).toBeGreaterThanOrEqual(MARKS)
  })

  it('the tab in sight can be read', () => {
    expect(contrast(of(onAccent), of(tones.accent.color))).toBeGreaterThanOrEqual(TEXT)
    expect(contrast(of(onAccent), of(tones.bad.color))).toBeGreaterThanOrEqual(TEXT)
  })
})

describe('without colors of its own', () => {
  const row = grounded([dim('a'), good('✓'), strong('$1.00')], 'chosen')
  const look = (more: Partial<Look>): Look => ({ palette: 'mono', theme: 'dark', depth: '256', ascii: false, ...more })

  it('the chosen row is one run turned around', () => {
    for (const one of [look({}), look({ palette: 'default', depth: '16' })]) {
      expect(paint(row, one)).toBe('\u001B[7ma\u001B[0m\u001B[7m✓\u001B[0m\u001B[7m$1.00\u001B[0m')
    }
  })

  it('nothing is written where no color is wished', () => {
    expect(paint(row, look({ palette: undefined }))).toBe('a✓$1.00')
  })

  it('every look has a style for every tone', () => {
    const looks = palettes.flatMap((palette) => depths.map((depth) => look({ palette, depth })))
    for (const one of looks) expect(Object.keys(stylesOf(one).tones)).toHaveLength(14)
  })
})
