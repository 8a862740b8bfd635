import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runPage } from '../fixtures/kit/page.testkit.ts'
import { openUser, type User } from '../fixtures/kit/user.ts'

// @slow real daemons

/* The tutorial and the pages of docs/how-to run from their first command to their last, on one machine. */

const DOCS = join(import.meta.dirname, '../docs')
/** It runs in a file of its own, which needs the chain. */
const ELSEWHERE = ['settle-on-a-chain.md', 'keep-keys-safe.md']
const howTo = readdirSync(join(DOCS, 'how-to')).filter((name) => !ELSEWHERE.includes(name))
const pages = ['start.md', ...howTo.map((name) => join('how-to', name))]

let user: User
beforeAll(async () => {
  user = await openUser({ SOUK_NO_INPUT: '1' })
})
afterAll(() => user?.close())

test.each(pages)('%s', async (name) => {
  const page = readFileSync(join(DOCS, name), 'utf8')
  expect(page).toMatch(name === 'start.md' ? /^# / : /^# .+\n\n```sh\n/)
  await runPage(user, page)
})
