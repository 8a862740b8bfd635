import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const BIT_DEPTH = 1
const GRAYSCALE = 0
const BITS_PER_BYTE = 8
const NO_FILTER_BYTE = 1

/** A number of equal pixel rows, with the start and end of each black run in a row. */
export type Band = { readonly rows: number; readonly black: readonly (readonly [from: number, to: number])[] }

/** A square 1-bit PNG, white except for the black runs. */
export function blackAndWhitePng(sizePx: number, bands: readonly Band[]): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(sizePx, 0)
  header.writeUInt32BE(sizePx, 4)
  header.set([BIT_DEPTH, GRAYSCALE], 8)
  const rows = bands.flatMap(({ rows: times, black }) => Array<Buffer>(times).fill(packRow(sizePx, black)))
  const pixels = deflateSync(Buffer.concat(rows))
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))])
}

/** Bytes of a row: a filter byte, then eight pixels per byte, leftmost in the highest bit. White is 1. */
function packRow(sizePx: number, black: Band['black']): Buffer {
  const row = Buffer.alloc(NO_FILTER_BYTE + Math.ceil(sizePx / BITS_PER_BYTE))
  const pixels = row.subarray(NO_FILTER_BYTE)
  let at = 0
  for (const [from, to] of black) {
    whiten(pixels, at, from)
    at = to
  }
  whiten(pixels, at, sizePx)
  return row
}

function whiten(pixels: Buffer, from: number, to: number): void {
  const [first, last] = [Math.floor(from / BITS_PER_BYTE), Math.floor(to / BITS_PER_BYTE)]
  const [head, tail] = [0xff >> (from % BITS_PER_BYTE), 0xff & ~(0xff >> (to % BITS_PER_BYTE))]
  if (first === last) {
    pixels[first] = (pixels[first] ?? 0) | (head & tail)
    return
  }
  pixels[first] = (pixels[first] ?? 0) | head
  pixels.fill(0xff, first + 1, last)
  if (tail !== 0) pixels[last] = tail
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(4 + body.length + 4)
  framed.writeUInt32BE(data.length, 0)
  framed.set(body, 4)
  framed.writeUInt32BE(crc32(body), 4 + body.length)
  return framed
}
