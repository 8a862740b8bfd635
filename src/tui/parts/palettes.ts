import type { PaletteName } from '../../text/text.ts'

export const themes = ['dark', 'light'] as const
export type ThemeName = (typeof themes)[number]
/** Color depths: 24 bits, xterm's 256, or 16. */
export const depths = ['truecolor', '256', '16'] as const
export type Depth = (typeof depths)[number]

export const textTones = ['strong', 'dim', 'good', 'warn', 'bad', 'accent'] as const
export const markTones = ['chart1', 'chart2', 'chart3', 'chart4'] as const
/** Meaning of a text. Color only repeats what its words say. */
export type Tone = 'plain' | (typeof textTones)[number] | (typeof markTones)[number] | 'hair' | 'active' | 'alarm'
/** Background of the chosen row, of header and key row (`bar`), or of the header on a remote. */
export type Ground = 'chosen' | 'bar' | 'remote'

/** A color as `#RRGGBB`, as index of 256 colors, and as SGR code of 16 colors. */
type Color = { readonly rgb: string; readonly xterm: number; readonly ansi: number }
type Shade = { readonly color: Color; readonly bold?: true }

const color = (rgb: string, xterm: number, ansi: number): Color => ({ rgb, xterm, ansi })
const shade = (rgb: string, xterm: number, ansi: number): Shade => ({ color: color(rgb, xterm, ansi) })
const boldShade = (rgb: string, xterm: number, ansi: number): Shade => ({ color: color(rgb, xterm, ansi), bold: true })

export type Theme = {
  readonly tones: Readonly<Record<Exclude<Tone, 'plain' | 'active' | 'alarm'>, Shade>>
  readonly onAccent: Color
  readonly grounds: Readonly<Record<Ground, Color>>
}

const dark: Theme = {
  tones: {
    strong: boldShade('#F0F6FC', 255, 97),
    dim: shade('#98A1AB', 248, 37),
    accent: shade('#8AA4FF', 111, 94),
    good: shade('#5BD08A', 78, 32),
    warn: shade('#F2B84B', 215, 33),
    bad: shade('#FF7A70', 210, 91),
    chart1: shade('#6A80D4', 68, 94),
    chart2: shade('#7289E2', 75, 94),
    chart3: shade('#8AA4FF', 111, 94),
    chart4: shade('#B7C6FF', 153, 94),
    hair: shade('#3D444D', 238, 90),
  },
  onAccent: color('#0D1117', 16, 30),
  grounds: { chosen: color('#1F2A4A', 236, 40), bar: color('#161B22', 234, 40), remote: color('#2A1F4A', 53, 45) },
}

const light: Theme = {
  tones: {
    strong: boldShade('#1F2328', 235, 30),
    dim: shade('#59636E', 241, 90),
    accent: shade('#3949C6', 61, 34),
    good: shade('#116329', 22, 32),
    warn: shade('#8A5A00', 94, 33),
    bad: shade('#B42318', 124, 31),
    chart1: shade('#7080DC', 68, 34),
    chart2: shade('#5565D2', 61, 34),
    chart3: shade('#3949C6', 61, 34),
    chart4: shade('#243096', 18, 34),
    hair: shade('#D0D7DE', 252, 37),
  },
  onAccent: color('#FFFFFF', 231, 97),
  grounds: { chosen: color('#EAEEFF', 255, 47), bar: color('#F0F2F6', 255, 47), remote: color('#F1EAFF', 255, 47) },
}

/** Palette for color-blind users: blue is good, yellow and bold orange are trouble. */
const blindDark: Theme = {
  ...dark,
  tones: {
    ...dark.tones,
    good: shade('#56B4E9', 74, 94),
    warn: shade('#F0E442', 227, 33),
    bad: boldShade('#FF9E3D', 215, 91),
    accent: shade('#D0BFFF', 183, 95),
  },
}

const blindLight: Theme = {
  ...light,
  tones: {
    ...light.tones,
    good: shade('#0B5A8A', 24, 34),
    warn: shade('#6B5E00', 58, 33),
    bad: boldShade('#9C3D00', 88, 31),
    accent: shade('#5B3FA8', 55, 35),
  },
}

export const themesOf: Readonly<Record<Exclude<PaletteName, 'mono'>, Readonly<Record<ThemeName, Theme>>>> = {
  default: { dark, light },
  cb: { dark: blindDark, light: blindLight },
}
