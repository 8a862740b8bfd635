import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUserAtMarket, type User } from '../../fixtures/kit/user.ts'

const MARKET = `
people:
  - { name: ada, title: Ada, type: agent, funds: "20.00", deposit: "5.00" }
  - { name: ben, type: provider }
services:
  - by: ben
    name: Word count
    description: Counts words.
    price: "0.50"
    fulfillment_type: human
    input_schema: { type: object, properties: { text: { type: string } }, required: [text] }
acts:
  - buy: { who: ada, service: Word count, input: { text: one two }, as: first }
  - message: { who: ada, job: first, text: Please hurry. }
  - start: { job: first }
  - deliver: { job: first, deliverables: { words: 2 } }
  - verify: { job: first, rating: 5, comment: Right. }
  - buy: { who: ada, service: Word count, input: { text: three }, from: balance, as: second }
  - deliver: { job: second, deliverables: { words: 1 } }
  - dispute: { job: second, reason: There are none. }
`

let user: User
beforeAll(async () => {
  user = await openUserAtMarket()
})
afterAll(() => user.close())

const lines = (out: string) => out.trim().split('\n').filter(Boolean)
async function seeded(text: string, ...more: string[]) {
  const file = join(user.home, 'market.yaml')
  await writeFile(file, text)
  return user.souk('seed', '--file', file, '--ndjson', ...more)
}

test('a file of people, services and acts is played by real acts, and people are there once', async () => {
  const { json } = user
  const first = await seeded(MARKET)
  expect({ code: first.code, err: first.code === 0 ? '' : first.err }).toEqual({ code: 0, err: '' })
  const steps = lines(first.out).map((line) => JSON.parse(line))
  expect(steps.map(({ step }) => step)).toContain('acts.7')
  const jobs = async () => (await json('jobs', 'list', '--as', 'ada')).jobs.map((job: { status: string }) => job.status)
  expect((await jobs()).sort()).toEqual(['disputed', 'released'])
  expect((await json('money', 'audit')).ok).toBe(true)

  // Again, people and listings are used as they are, and the acts happen once more.
  expect((await seeded(MARKET)).code).toBe(0)
  expect((await jobs()).length).toBe(4)
  expect((await json('services', 'list', '--limit', '100')).services.filter(isOurs).length).toBe(1)
})

const isOurs = ({ name }: { name: string }) => name === 'Word count'

test.each([
  ['a name that is nobody', MARKET.replace('by: ben', 'by: cid'), 'services.0.by: unknown person cid'],
  [
    'a job before it is bought',
    MARKET.replace('job: first, text', 'job: third, text'),
    'acts.1.message.job: unknown job third (not bought yet)',
  ],
  ['a member that nothing knows', MARKET.replace('funds:', 'fund:'), 'people.0'],
  ['an amount that is none', MARKET.replace('"20.00"', 'much'), 'people.0.funds: must be an amount'],
  ['an act that is none', MARKET.replace('start:', 'begin:'), 'acts.2'],
  ['the same name twice', MARKET.replace('name: ben', 'name: ada'), 'people.1.name: duplicate ada'],
  ['no YAML', 'people: [', 'is neither YAML nor JSON'],
])('%s is refused by its place, and nothing happens', async (_, text, why) => {
  const before = await user.json('participants', 'list')
  const { code, err } = await seeded(text)
  expect(code).toBe(2)
  expect(err).toContain(why)
  expect(await user.json('participants', 'list')).toEqual(before)
})

test('a dry run says what the file holds and does nothing', async () => {
  const before = await user.json('participants', 'list')
  const { code, out } = await seeded(MARKET.replaceAll('ada', 'eve'), '--dry-run')
  expect([code, JSON.parse(out).did]).toEqual([0, 'users: 2, services: 1, actions: 8; nothing was done'])
  expect(await user.json('participants', 'list')).toEqual(before)
})
