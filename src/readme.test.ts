import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedDocs, withPart } from '../bin/generated.ts'

const MAX_README_BYTES = 6 * 1_024
const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

test.each(generatedDocs)('$file $part is what the program says today: `npm run docs` writes it', async (one) => {
  expect(read(one.file)).toBe(withPart(read(one.file), one, await one.text()))
})

test('the README can be read in one go; the rest is in docs/', () => {
  expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(MAX_README_BYTES)
})
