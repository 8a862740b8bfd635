import { describe, expect, it } from 'vitest'
import { palettes } from '../../text/text.ts'
import { contrastFaults, skinOf } from './contrast.ts'
import { dim, good, grounded, strong } from './line.ts'
import { depths, themes, themesOf } from './palettes.ts'
import { type Look, paint, stylesOf } from './theme.ts'

/* Everybody can read it: contrast is reckoned as WCAG 2 does, against every ground that a terminal of the kind has. */

const colored = palettes.filter((name) => name !== 'mono')
const all = colored.flatMap((palette) =>
  themes.flatMap((theme) => (['truecolor', '256'] as const).map((depth) => [palette, theme, depth] as const)),
)

describe.each(all)('%s, %s, %s', (palette, theme, depth) => {
  it('every text and chart can be read on every ground', () => {
    expect(contrastFaults(themesOf[palette][theme], theme, depth)).toEqual([])
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

describe('a skin', () => {
  const look = { palette: 'default', theme: 'dark', depth: 'truecolor' } as const

  it('changes the colors that it names, and keeps the others of its base', () => {
    const { theme, skin, faults } = skinOf({ base: 'light', accent: '#5B3FA8', chosen: '#EEEEEE' }, look)
    expect([theme, faults]).toEqual(['light', []])
    expect(skin?.tones.accent.color).toMatchObject({ rgb: '#5B3FA8', xterm: 61 })
    expect(skin?.grounds.chosen.rgb).toBe('#EEEEEE')
    expect(skin?.tones.good).toEqual(themesOf.default.light.tones.good)
    const row = grounded([{ text: 'a', tone: 'accent' }], 'chosen')
    expect(paint(row, { ...look, ascii: false, theme, skin })).toBe('\u001B[38;2;91;63;168;48;2;238;238;238ma\u001B[0m')
  })

  it.each([
    [
      'text too dark to read',
      { good: '#333333' },
      /^good #333333 on a terminal of #000000 has contrast 1\.7; it needs 4\.5$/,
    ],
    ['a background that hides text', { chosen: '#98A1AB' }, /^strong #F0F6FC on chosen has contrast/],
    ['a chart that cannot be seen', { chart1: '#111111' }, /^chart1 .* it needs 3$/],
    ['an unreadable active tab', { onAccent: '#8AA4FF' }, /^onAccent #8AA4FF on accent has contrast 1\.0/],
    ['an unknown name', { acent: '#8AA4FF' }, /there is no color "acent".*accent/],
    ['no color', { accent: 'blue' }, /accent must be a color such as/],
    ['an escape sequence', { accent: '#8AA4FF\u001B[2J' }, /accent must be a color such as/],
    ['an unknown base', { base: 'dim' }, /"base" is "dark" or "light"/],
    ['a list', ['#8AA4FF'], /it must be an object/],
    ['no object', null, /it must be an object/],
  ])('with %s is not used, and says why', (_, written, why) => {
    const { skin, faults } = skinOf(written, look)
    expect(skin).toBeUndefined()
    expect(faults[0]).toMatch(why)
  })

  it('is checked with the colors that the terminal has', () => {
    const tight = { dim: '#7F8790' }
    expect(skinOf(tight, { ...look, depth: '16' }).faults).toEqual([])
    expect(skinOf(tight, { ...look, depth: '256' }).faults[0]).toMatch(/^dim #7F8790 on/)
  })
})
