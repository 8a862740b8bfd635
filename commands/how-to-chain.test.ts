import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findAnvil } from '../daemon/ports/chain/evm/anvil/find.ts'
import { runPage } from '../fixtures/kit/page.testkit.ts'
import { openUser, type User } from '../fixtures/kit/user.ts'
import { OUTSIDE } from '../fixtures/outside/load.ts'

// @slow a real daemon and a real chain

let user: User
beforeAll(async () => {
  const folder = dirname(findAnvil({ from: OUTSIDE }))
  user = await openUser({ SOUK_NO_INPUT: '1', PATH: `${folder}${delimiter}${process.env.PATH ?? ''}` })
})
afterAll(() => user?.close())

test('how-to/settle-on-a-chain.md runs from its first command to its last', async () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/how-to/settle-on-a-chain.md'), 'utf8')
  expect(page).toMatch(/^# .+\n\n```sh\n/)
  await runPage(user, page)
})
