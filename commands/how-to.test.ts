import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shellWords } from '../fixtures/kit/command-line.testkit.ts'
import { openUser, type User } from '../fixtures/kit/user.ts'

// @slow real daemons

/* Every page of docs/how-to runs from its first command to its last, on one machine. */

const FOLDER = join(import.meta.dirname, '../docs/how-to')
const pages = readdirSync(FOLDER).map((name): [string, string] => [name, readFileSync(join(FOLDER, name), 'utf8')])

let user: User
beforeAll(async () => {
  user = await openUser({ SOUK_NO_INPUT: '1' })
})
afterAll(() => user?.close())

test.each(pages)('%s', async (_, page) => {
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block.trim())
  expect(page.startsWith('# ') && /^# .+\n\n```sh\n/.test(page), 'begins with the commands').toBe(true)
  expect(page).toContain('## If it does not work')
  for (const line of blocks.flatMap((block) => block.split('\n'))) await runs(line.replace(/\s+# .*$/, ''))
})

/** A line as it is typed, with its files in the home of the test and its ports free ones. */
async function runs(line: string): Promise<void> {
  const here = line.replaceAll('listing.yaml', join(user.home, 'listing.yaml')).replace(/--port \d+/, '')
  const [typed = '', file] = here.split(' > ')
  const [, ...words] = shellWords(typed)
  const { code, out, err } = await user.souk(...words, ...(words[0] === 'up' ? ['--port', '0'] : []))
  expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' })
  if (file !== undefined) writeFileSync(file, out)
}
