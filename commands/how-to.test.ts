import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shellWords } from '../fixtures/kit/command-line.testkit.ts'
import { openUser, type User } from '../fixtures/kit/user.ts'

// @slow real daemons

/* The tutorial and every page of docs/how-to run from their first command to their last, on one machine. */

const DOCS = join(import.meta.dirname, '../docs')
const pageOf = (name: string): [string, string] => [name, readFileSync(join(DOCS, name), 'utf8')]
const pages = ['start.md', ...readdirSync(join(DOCS, 'how-to')).map((name) => join('how-to', name))].map(pageOf)

let user: User
beforeAll(async () => {
  user = await openUser({ SOUK_NO_INPUT: '1' })
})
afterAll(() => user?.close())

test.each(pages)('%s', async (name, page) => {
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block.trim())
  const begins = name === 'start.md' ? /^# / : /^# .+\n\n```sh\n/
  expect(page).toMatch(begins)
  expect(page).toContain('## If it does not work')
  const known = new Map<string, string>()
  for (const line of blocks.flatMap((block) => block.split('\n'))) await runs(line.replace(/\s+# .*$/, ''), known)
})

/** A line as it is typed, with its files in the home of the test and its ports free ones. */
async function runs(line: string, known: Map<string, string>): Promise<void> {
  const [, name, asked] = /^([A-Z]+)=\$\((.+)\)$/.exec(line) ?? []
  const inner = asked ?? /\$\((.+?)\)/.exec(line)?.[1]
  const answer = inner === undefined ? '' : (await said(inner, known)).trim()
  if (name !== undefined) known.set(name, answer)
  else await said(line.replace(/\$\(.+?\)/, answer), known)
}

async function said(line: string, known: Map<string, string>): Promise<string> {
  const here = line
    .replace(/\$([A-Z]+)/g, (_, name) => known.get(name) ?? '')
    .replace(/\b[\w-]+\.(yaml|txt|tar|ndjson)\b/g, (file) => join(user.home, file))
    .replace(/ (-o|--save) (\w+)/g, (_, option, folder) => ` ${option} ${join(user.home, folder)}`)
    .replace(/--port \d+/, '')
  const [typed = '', file] = here.split(' > ')
  const [, ...words] = shellWords(typed)
  const { code, out, err } = await user.souk(...words, ...(words[0] === 'up' ? ['--port', '0'] : []))
  expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' })
  if (file !== undefined) writeFileSync(file, out)
  return out
}
