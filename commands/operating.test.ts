import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shellWords } from '../fixtures/kit/command-line.testkit.ts'
import { openUser, type User } from '../fixtures/kit/user.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/reference/operating.md'), 'utf8')
const sections = page.split(/^## /m).flatMap((section): [string, string[]][] => {
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)]
  const lines = blocks.flatMap(([, block = '']) => block.trim().split('\n')).map((line) => line.replace(/\s+#.*$/, ''))
  return lines.length === 0 ? [] : [[section.split('\n')[0] ?? '', lines]]
})

/* What an operator is told to type runs as it stands, each command in its turn, section by section. */

let user: User
beforeAll(async () => {
  user = await openUser({ SOUK_NO_INPUT: '1' })
})
afterAll(() => user?.close())

test('there are commands in most sections', () => expect(sections.length).toBeGreaterThan(7))

test.each(sections)('%s', async (_, lines) => {
  for (const line of lines) {
    const [, ...words] = shellWords(line.replace('market.tar', join(user.home, 'market.tar')))
    const { code, err } = await user.souk(...words, ...(words[0] === 'up' ? ['--port', '0'] : []))
    expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' })
  }
})
