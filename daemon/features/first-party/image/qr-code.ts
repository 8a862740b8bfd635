import { hash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import encodeQr from 'qr'
import type { Json } from '../../../../src/core/json.ts'
import { defineService, type JsonInput, wrongField } from '../service/service.ts'

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const BIT_DEPTH = 1
const GRAYSCALE = 0
const BITS_PER_BYTE = 8
const NO_FILTER_BYTE = 1

/** A number of equal pixel rows, with the start and end of each black run in a row. */
type Band = { readonly rows: number; readonly black: readonly (readonly [from: number, to: number])[] }

/** A square 1-bit PNG, white except for the black runs. */
function blackAndWhitePng(sizePx: number, bands: readonly Band[]): Buffer {
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

const MAX_DATA_BYTES = 2_000
const DEFAULT_SIZE_PX = 300
/** Texts up to this length, in images up to `QUICK_SIZE_PX`, are encoded on the main thread. */
const QUICK_CHARS = 200
const QUICK_SIZE_PX = 500
/** Quiet zone in modules (ISO/IEC 18004). */
const QUIET_ZONE_MODULES = 4

/** QR code of a text, error correction level M, as PNG or SVG of exactly the requested size. */
export const qrCode = defineService({
  slug: 'qr_code',
  isQuick: (input) => String(input['data'] ?? '').length <= QUICK_CHARS && Number(input['size'] ?? 0) <= QUICK_SIZE_PX,
  make(input) {
    const { data, size, format } = read(input)
    const modules = encodeQr(data, 'raw', { ecc: 'medium', border: QUIET_ZONE_MODULES })
    return { qr_code: format === 'svg' ? svgResult(modules, size) : pngResult(modules, size) }
  },
})

/** Rows of modules, true if dark, with the quiet zone. */
type Modules = readonly (readonly boolean[])[]

function read(input: JsonInput): { data: string; size: number; format: string } {
  const data = String(input['data'] ?? '')
  const bytes = Buffer.byteLength(data)
  // The schema limits characters; a QR code limits bytes.
  if (bytes > MAX_DATA_BYTES)
    throw wrongField('data', `is ${bytes} bytes as UTF-8; at most ${MAX_DATA_BYTES} are allowed`)
  return { data, size: Number(input['size'] ?? DEFAULT_SIZE_PX), format: String(input['format'] ?? 'png') }
}

/** Draws each module with the same whole number of pixels, so that the image is sharp; centres the code. */
function pngResult(modules: Modules, size: number): Json {
  const needed = modules.length
  if (size < needed)
    throw wrongField('size', `must be at least ${needed} pixels for this much data, unless format is svg`)
  const scale = Math.floor(size / needed)
  const offset = Math.floor((size - needed * scale) / 2)
  const lines = modules.map((row) => ({
    rows: scale,
    black: darkRuns(row).map(([from, to]) => [offset + from * scale, offset + to * scale] as const),
  }))
  const below = size - offset - needed * scale
  const png = blackAndWhitePng(size, [{ rows: offset, black: [] }, ...lines, { rows: below, black: [] }])
  return result(png, { content: png.toString('base64'), format: 'png', encoding: 'base64', width: size })
}

function svgResult(modules: Modules, size: number): Json {
  const side = modules.length
  const shapes = modules.flatMap((row, y) =>
    darkRuns(row).map(([from, to]) => `M${from} ${y}h${to - from}v1h${from - to}z`),
  )
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${side} ${side}" ` +
    `shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path d="${shapes.join('')}"/></svg>`
  return result(Buffer.from(svg), { content: svg, format: 'svg', encoding: 'utf-8', width: size })
}

function darkRuns(row: Modules[number]): [from: number, to: number][] {
  const runs: [number, number][] = []
  for (let column = 0; column < row.length; column += 1) {
    const start = column
    while (row[column]) column += 1
    if (column > start) runs.push([start, column])
  }
  return runs
}

function result(
  file: Buffer,
  facts: { content: string; format: 'png' | 'svg'; encoding: string; width: number },
): Json {
  return {
    format: facts.format,
    content_type: facts.format === 'png' ? 'image/png' : 'image/svg+xml',
    width: facts.width,
    height: facts.width,
    bytes: file.length,
    sha256: hash('sha256', file),
    encoding: facts.encoding,
    content: facts.content,
  }
}
