import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import { sixelOfPng } from './sixel.ts'

type Rgb = readonly [red: number, green: number, blue: number]

function png(width: number, height: number, colorAt: (x: number, y: number) => Rgb): Buffer {
  const picture = new PNG({ width, height })
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) picture.data.set([...colorAt(x, y), 255], (y * width + x) * 4)
  }
  return PNG.sync.write(picture)
}

const START = '\x1bPq'
const END = '\x1b\\'

/** A second implementation: what a terminal would show, as `r;g;b` in percent by place. */
function shown(text: string): { width: number; height: number; at: (x: number, y: number) => string | undefined } {
  expect([text.slice(0, START.length), text.slice(-END.length)]).toEqual([START, END])
  const [, width = '', height = '', body = ''] =
    /^"1;1;(\d+);(\d+)(.*)$/.exec(text.slice(START.length, -END.length)) ?? []
  const palette = new Map([...body.matchAll(/#(\d+);2;(\d+;\d+;\d+)/g)].map(([, name = '', rgb = '']) => [name, rgb]))
  const pixels = new Map<string, string | undefined>()
  for (const [band, row] of body
    .replaceAll(/#\d+;2;\d+;\d+;\d+/g, '')
    .split('-')
    .entries()) {
    for (const [, name = '', layer = ''] of row.matchAll(/#(\d+)([^#$]*)/g))
      paint(pixels, { band, layer, color: palette.get(name) })
  }
  return { width: Number(width), height: Number(height), at: (x, y) => pixels.get(`${x} ${y}`) }
}

type Layer = { readonly band: number; readonly layer: string; readonly color: string | undefined }

function paint(pixels: Map<string, string | undefined>, { band, layer, color }: Layer): void {
  const columns = [...layer.matchAll(/(?:!(\d+))?([?-~])/g)]
  const bits = columns.flatMap(([, count = '1', sixel = '?']) => Array(Number(count)).fill(sixel.charCodeAt(0) - 63))
  for (const [x, column] of bits.entries()) {
    const rows = [0, 1, 2, 3, 4, 5].filter((row) => column & (1 << row))
    for (const row of rows) pixels.set(`${x} ${band * 6 + row}`, color)
  }
}

describe('a picture as sixels', () => {
  it('shows every pixel in its place', () => {
    const corners: Rgb[] = [
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
      [0, 0, 0],
    ]
    const colorAt = (x: number, y: number) => corners[(x >= 7 ? 1 : 0) + (y >= 10 ? 2 : 0)] ?? [255, 255, 255]
    const { width, height, at } = shown(sixelOfPng(png(14, 20, colorAt), 80) ?? '')
    expect([width, height]).toEqual([14, 20])
    for (let y = 0; y < 20; y += 1) {
      for (let x = 0; x < 14; x += 1) {
        const wanted = colorAt(x, y).map((channel) => (channel === 255 ? 100 : 0))
        expect(at(x, y)).toBe(wanted.join(';'))
      }
    }
  })

  it('fits the terminal, and no picture draws more than a screen', () => {
    const wide = shown(
      sixelOfPng(
        png(1_366, 768, () => [20, 120, 220]),
        40,
      ) ?? '',
    )
    expect([wide.width, wide.height]).toEqual([320, 179])
    const tall = shown(
      sixelOfPng(
        png(100, 4_000, (_, y) => [y % 256, 0, 0]),
        200,
      ) ?? '',
    )
    expect([tall.width, tall.height]).toEqual([15, 600])
  })

  it.each<[string, Buffer]>([
    ['a picture that says it is huge', hugeHeader()],
    ['half a picture', png(50, 50, (x, y) => [x, y, 0]).subarray(0, 60)],
    ['no picture', Buffer.from('\x1b]0;title\x07')],
  ])('is nothing of %s', (_, data) => expect(sixelOfPng(data, 80)).toBeUndefined())

  it('holds no byte of the picture as it is', () => {
    const text =
      sixelOfPng(
        png(200, 90, (x, y) => [x, y, (x * y) % 256]),
        80,
      ) ?? ''
    expect(text.slice(2, -2)).toMatch(/^[\x20-\x7e]+$/)
  })
})

function hugeHeader(): Buffer {
  const data = png(10, 10, () => [0, 0, 0])
  data.writeUInt32BE(100_000, 16)
  data.writeUInt32BE(100_000, 20)
  return data
}
