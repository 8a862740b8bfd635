import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const BIT_DEPTH = 1
const GRAYSCALE = 0
const BITS_PER_BYTE = 8
const NO_FILTER_BYTE = 1

/** What a square picture shows; rows of one band look the same, and columns too, so each band is looked at once. */
export type Picture = { readonly bandOf: (at: number) => number; readonly isDark: (x: number, y: number) => boolean }

/** A square PNG of one bit a pixel, black where the picture is dark. */
export function blackAndWhitePng(sizePx: number, { bandOf, isDark }: Picture): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(sizePx, 0)
  header.writeUInt32BE(sizePx, 4)
  header.set([BIT_DEPTH, GRAYSCALE], 8)
  const bands = Array.from({ length: sizePx }, (_, at) => bandOf(at))
  const rows: Buffer[] = []
  for (let y = 0; y < sizePx; y += 1) {
    const above = bands[y - 1] === bands[y] ? rows[y - 1] : undefined
    rows.push(above ?? packRow(bands, (x) => isDark(x, y)))
  }
  const pixels = deflateSync(Buffer.concat(rows))
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))])
}

/** A filter byte, then eight pixels a byte, the leftmost highest; a set bit is white. */
function packRow(bands: readonly number[], isDark: (x: number) => boolean): Buffer {
  const row = Buffer.alloc(NO_FILTER_BYTE + Math.ceil(bands.length / BITS_PER_BYTE))
  let dark = false
  for (let x = 0; x < bands.length; x += 1) {
    if (bands[x] !== bands[x - 1]) dark = isDark(x)
    if (dark) continue
    const at = NO_FILTER_BYTE + Math.floor(x / BITS_PER_BYTE)
    row[at] = (row[at] ?? 0) | (0x80 >> (x % BITS_PER_BYTE))
  }
  return row
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(4 + body.length + 4)
  framed.writeUInt32BE(data.length, 0)
  framed.set(body, 4)
  framed.writeUInt32BE(crc32(body), 4 + body.length)
  return framed
}
