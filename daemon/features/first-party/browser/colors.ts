/** Red, green and blue from 0 to 1. */
export type Rgb = readonly [number, number, number]

const FULL = 255
const CHANNELS = /rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)/
const LOW = 0.04045
const HEX = 16

/** Parses an `rgb()` or `rgba()` colour; undefined for any other colour space. */
export function rgbOf(text: string): Rgb | undefined {
  const [, r, g, b] = CHANNELS.exec(text) ?? []
  return r === undefined ? undefined : [Number(r) / FULL, Number(g) / FULL, Number(b) / FULL]
}

export function hexOf(color: Rgb): string {
  return `#${color
    .map((part) =>
      Math.round(part * FULL)
        .toString(HEX)
        .padStart(2, '0'),
    )
    .join('')}`
}

function linear([r, g, b]: Rgb): Rgb {
  const one = (part: number) => (part <= LOW ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  return [one(r), one(g), one(b)]
}

/** Contrast of two colours, 1 to 21 (WCAG 2.2). */
export function contrastOf(a: Rgb, b: Rgb): number {
  const luminance = (color: Rgb) => {
    const [r, g, b] = linear(color)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return Math.round((100 * (light + 0.05)) / (dark + 0.05)) / 100
}

/** Perceived difference of two colours: distance in OKLab. */
export function distanceOf(a: Rgb, b: Rgb): number {
  const [one, other] = [oklab(a), oklab(b)]
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2])
}

/** Converts sRGB to OKLab by its published matrices. */
function oklab(color: Rgb): Rgb {
  const [r, g, b] = linear(color)
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}
