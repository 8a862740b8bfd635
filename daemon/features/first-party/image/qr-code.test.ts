import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import jsqr from 'jsqr'
import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../fixtures/kit/depth.ts'
import { checkDeliverable, compileInputSchema } from '../../../../src/schema/schema.ts'
import type { JsonInput } from '../service/service.ts'
import { qrCode } from './qr-code.ts'

const listing = JSON.parse(readFileSync('fixtures/listings/qr_code.json', 'utf8'))
type Read = (rgba: Uint8ClampedArray, width: number, height: number) => { binaryData: number[] } | null
const read = jsqr as unknown as Read // its types name a default that Node does not give

type Code = { content: string; content_type: string; width: number; height: number; bytes: number; sha256: string }

async function make(input: JsonInput): Promise<Code> {
  const checked = compileInputSchema(listing.input_schema).validate(input)
  if (!checked.ok) throw new Error(JSON.stringify(checked.details))
  const made = await qrCode.run(checked.value as JsonInput, new AbortController().signal)
  expect(checkDeliverable(listing.deliverable_schema, made)).toEqual({ ok: true, value: made })
  return (made as { qr_code: Code }).qr_code
}

function decodePng(file: Buffer): { text: string | undefined; width: number; height: number } {
  const { data, width, height } = PNG.sync.read(file)
  return { text: textOf(read(new Uint8ClampedArray(data), width, height)), width, height }
}

const textOf = (found: { binaryData: number[] } | null) =>
  (found && Buffer.from(found.binaryData).toString('utf8')) || undefined

/** Draws the rectangles of our SVG on 4 × 4 pixels a unit. */
function decodeSvg(svg: string): string | undefined {
  const scale = 4
  const side = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]) * scale
  const rgba = new Uint8ClampedArray(side * side * 4).fill(255)
  for (const [, x, y, run] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    for (let dy = 0; dy < scale; dy += 1) {
      const from = ((Number(y) * scale + dy) * side + Number(x) * scale) * 4
      for (let at = from; at < from + Number(run) * scale * 4; at += 1) if (at % 4 !== 3) rgba[at] = 0
    }
  }
  return textOf(read(rgba, side, side))
}

const sha256 = (file: Buffer) => createHash('sha256').update(file).digest('hex')

describe('qr_code', () => {
  it('makes a PNG of exactly the width asked for that reads back as the text', async () => {
    const text = fc.oneof(
      fc.string({ minLength: 1, maxLength: 120 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
      fc.webUrl(),
    )
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 120, max: 1000 }), async (data, size) => {
        const code = await make({ data, size })
        const file = Buffer.from(code.content, 'base64')
        expect(decodePng(file)).toEqual({ text: data, width: size, height: size })
        expect(code).toMatchObject({ content_type: 'image/png', width: size, bytes: file.length, sha256: sha256(file) })
      }),
      { numRuns: runs(60, 15) },
    )
  })

  it('makes an SVG that reads back as the text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), async (data) => {
        const code = await make({ data, format: 'svg', size: 50 })
        expect(decodeSvg(code.content)).toBe(data)
        const file = Buffer.from(code.content)
        expect(code).toMatchObject({
          content_type: 'image/svg+xml',
          width: 50,
          bytes: file.length,
          sha256: sha256(file),
        })
      }),
      { numRuns: runs(40, 15) },
    )
  })

  it('is 300 pixels of PNG unless told otherwise', async () => {
    expect(decodePng(Buffer.from((await make({ data: 'https://example.com/' })).content, 'base64'))).toEqual({
      text: 'https://example.com/',
      width: 300,
      height: 300,
    })
  })

  it.each([
    ['2,000 bytes', 'x'.repeat(2_000)],
    ['2,000 bytes in 1,000 characters', 'é'.repeat(1_000)],
    ['2,000 bytes in 500 characters', '😀'.repeat(500)],
  ])('holds %s', async (_, data) => {
    expect(decodePng(Buffer.from((await make({ data, size: 400 })).content, 'base64')).text).toBe(data)
  })

  it.each<[string, JsonInput, string]>([
    ['2,001 bytes in 1,001 characters', { data: `${'é'.repeat(1_000)}x` }, 'data'],
    ['more than fits the size', { data: 'x'.repeat(2_000), size: 50 }, 'size'],
  ])('refuses %s', async (_, input, path) => {
    await expect(make(input)).rejects.toMatchObject({ code: 'input_invalid', details: [{ path }] })
  })
})
