import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUser, type User } from '../fixtures/kit/user.ts'

/* A purchase by questions: each input by its schema, and nothing signed before a yes to what is shown. */

let user: User
beforeAll(async () => {
  user = await openUser()
  await user.json('up', '--port', '0', '--seed', 'house')
  await user.json('wallet', 'new', 'main')
  await user.json('wallet', 'fund')
})
afterAll(() => user?.close())

/** Answers by the name of what is asked, the last one where nothing else fits. */
async function buy(answers: Readonly<Record<string, readonly string[]>>, ...words: string[]) {
  const asked: string[] = []
  const left = new Map(Object.entries(answers).map(([name, all]) => [name, [...all]]))
  const answer = (question: string) => {
    asked.push(question)
    return left.get(question.split(/\W/)[0] ?? '')?.shift() ?? ''
  }
  const ran = await user.soukWith(
    { columns: 120, rows: 50, answer, env: { HOME: user.home, TMPDIR: user.home, PATH: process.env.PATH ?? '' } },
    'buy',
    'qr_code',
    '--interactive',
    '--pay',
    'x402',
    ...words,
  )
  return { ...ran, asked }
}

test('asks for each input with its type, choices and bounds, and again for what does not fit', async () => {
  const { code, asked, err } = await buy({ data: ['hello'], size: ['20', '200'], format: ['svg'], Pay: ['y'] })
  expect([code, err]).toEqual([0, expect.stringContaining('size')])
  const told = (name: string) => asked.filter((question) => question.startsWith(name))
  expect(told('data*')[0]).toContain('such as')
  expect(told('size')).toEqual([expect.stringMatching(/50 to 1000.*default 300/), expect.any(String)])
  expect(told('format')[0]).toContain('png | svg')
  expect(asked.at(-1)).toMatch(/^Pay \$0\.\d+ to 0x\w+ from main\?/)
  expect(err).toContain('data = "hello"')
  expect(err).toContain('size = 200')
})

test('asks only for what was not given', async () => {
  const { code, asked } = await buy({ Pay: ['y'] }, '-i', 'data=x', '-i', 'format=png')
  expect(code).toBe(0)
  expect(asked.some((question) => /^(data|format)/.test(question))).toBe(false)
})

test('signs nothing after a no', async () => {
  const { total } = await user.json('admin', 'jobs', 'list')
  expect(total).toBeGreaterThan(0)
  const { code, out } = await buy({ data: ['hello'], Pay: ['n'] })
  expect([code, out]).toEqual([13, ''])
  expect((await user.json('admin', 'jobs', 'list')).total).toBe(total)
})

test('without a terminal asks nothing, and says how else', async () => {
  const { code, err } = await user.souk('buy', 'qr_code', '--interactive')
  expect([code, err]).toEqual([2, expect.stringContaining('-i name=value')])
})
