import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { outputsText } from './index.ts'

// @slow a compiler goes over every command

const MINUTES_MS = 60_000

test('the schemas of help --json are what the types say; `npm run commands` writes them anew', {
  timeout: 10 * MINUTES_MS,
}, async () => {
  const written = readFileSync(join(import.meta.dirname, '../../commands/outputs.ts'), 'utf8')
  // As the formatter breaks lines and sets quotes is its own.
  const plain = (text: string) => text.replaceAll(/[\s'"\\]/g, '')
  expect(plain(written)).toBe(plain(await outputsText()))
})
