import { PNG } from 'pngjs'

/** Larger pictures are saved, not shown: four bytes a pixel while one is read. */
const MAX_PIXELS = 16_000_000
/** Size of what is drawn; a cell of a terminal is taken for 8 by 16. */
const CELL_WIDTH = 8
const MAX_WIDTH = 800
const MAX_HEIGHT = 600
const IHDR_END = 24
/** Steps of red, green and blue: 216 colors of the 256 that such terminals have. */
const STEPS = 6
const PERCENT = 100
const FULL = 255
/** Rows that one line of sixels holds, and the character of none of them. */
const BAND = 6
const EMPTY = 63
/** A run is written shorter as a count from here on. */
const MIN_RUN = 4
/** Ordered dithering (Bayer): in plain areas neighbours share what a color lacks. */
const DITHER = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5].map((level) => level / 16 - 0.5)

type Bitmap = { readonly width: number; readonly height: number; readonly colors: Uint8Array }

/**
 * A PNG as sixels, made smaller to fit; undefined where it is none, or too large to be looked at.
 * @param columns of the terminal
 */
export function sixelOfPng(data: Uint8Array, columns: number): string | undefined {
  const bytes = Buffer.from(data)
  if (bytes.length < IHDR_END || bytes.readUInt32BE(16) * bytes.readUInt32BE(20) > MAX_PIXELS) return undefined
  try {
    return sixels(reduced(PNG.sync.read(bytes), columns))
  } catch {
    return undefined // a damaged one is saved all the same
  }
}

/** In colors of the palette, on white, each pixel the nearest of the original. */
function reduced({ width, height, data }: PNG, columns: number): Bitmap {
  const scale = Math.min(1, (columns * CELL_WIDTH) / width, MAX_WIDTH / width, MAX_HEIGHT / height)
  const size = { width: Math.max(1, Math.floor(width * scale)), height: Math.max(1, Math.floor(height * scale)) }
  const colors = new Uint8Array(size.width * size.height)
  for (let y = 0; y < size.height; y += 1) {
    for (let x = 0; x < size.width; x += 1) {
      const from = (Math.floor(y / scale) * width + Math.floor(x / scale)) * 4
      const dither = DITHER[(y % 4) * 4 + (x % 4)] ?? 0
      colors[y * size.width + x] = colorAt(data.subarray(from, from + 4), dither)
    }
  }
  return { ...size, colors }
}

function colorAt([red = FULL, green = FULL, blue = FULL, alpha = FULL]: Uint8Array, dither: number): number {
  const step = (channel: number) => {
    const shown = ((channel * alpha) / FULL + (FULL - alpha)) / FULL
    return Math.min(STEPS - 1, Math.max(0, Math.round(shown * (STEPS - 1) + dither)))
  }
  return (step(red) * STEPS + step(green)) * STEPS + step(blue)
}

function sixels({ width, height, colors }: Bitmap): string {
  const used = [...new Set(colors)].sort((one, two) => one - two)
  const percent = (step: number) => Math.round((step * PERCENT) / (STEPS - 1))
  const palette = used.map((color) => {
    const parts = [Math.floor(color / STEPS ** 2), Math.floor(color / STEPS) % STEPS, color % STEPS]
    return `#${color};2;${parts.map(percent).join(';')}`
  })
  const bands = Array.from({ length: Math.ceil(height / BAND) }, (_, at) =>
    bandOf({ width, height, colors }, at * BAND),
  )
  return `\x1bPq"1;1;${width};${height}${palette.join('')}${bands.join('-')}\x1b\\`
}

/** Six rows, one color over the other. */
function bandOf({ width, height, colors }: Bitmap, top: number): string {
  const layers = new Map<number, Uint8Array>()
  for (let y = top; y < Math.min(top + BAND, height); y += 1) {
    for (let x = 0; x < width; x += 1) {
      const color = colors[y * width + x] ?? 0
      const layer = layers.get(color) ?? new Uint8Array(width)
      layers.set(color, layer)
      layer[x] = (layer[x] ?? 0) | (1 << (y - top))
    }
  }
  return [...layers].map(([color, layer]) => `#${color}${runs(layer)}`).join('$')
}

function runs(layer: Uint8Array): string {
  let text = ''
  for (let x = 0; x < layer.length; ) {
    let end = x + 1
    while (end < layer.length && layer[end] === layer[x]) end += 1
    const sixel = String.fromCharCode(EMPTY + (layer[x] ?? 0))
    text += end - x >= MIN_RUN ? `!${end - x}${sixel}` : sixel.repeat(end - x)
    x = end
  }
  return text
}
