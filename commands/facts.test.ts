import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUser, type User } from '../fixtures/kit/user.ts'
import { entries } from './index.ts'

/* What is said is so: nothing is called good that did not happen, and a slip is told from what was meant. */

let user: User
beforeAll(async () => {
  user = await openUser({ SOUK_NO_INPUT: '1' })
  await user.json('up', '--port', '0', '--seed', 'house')
})
afterAll(() => user?.close())

test('crons that have not run are not called ok', async () => {
  expect((await user.json('status')).crons.waiting.length).toBeGreaterThan(0)
  expect((await user.souk('status')).out).toMatch(/\d not run yet/)
})

test('business time that was moved is told by doctor', async () => {
  expect((await user.souk('doctor')).out).toMatch(/clock +agrees$/m)
  await user.json('clock', 'advance', '62d')
  expect((await user.souk('doctor')).out).toMatch(/clock +agrees; business time was moved 6[12]d.* ahead/)
})

test('who gets an answer again is not told of a payment of nothing', async () => {
  await user.register('main', '20')
  const line = ['buy', 'qr_code', '-i', 'data=x', '--idempotency-key', 'the-same-key-again-1', '--yes']
  const [first, again] = [await user.souk(...line), await user.souk(...line)]
  expect(first.out).toMatch(/paid \$0\.\d+ by x402/)
  expect(again.out).toContain('paid before; nothing was charged again')
})

test('a word that is none of a list is answered with the list, and with the one that was meant', async () => {
  const { code, err } = await user.souk('api', '/v1/services/catalog', '-f', 'fulfillment_type=automatd')
  expect([code, err]).toEqual([2, expect.stringContaining('must be one of instant, automated, human')])
  expect(err).toContain('did you mean automated?')
})

test('an id that is not whole is told from one of nothing, each with where to look', async () => {
  const broken = await user.souk('jobs', 'view', 'job_0123')
  expect(broken.err).toContain('"job_0123" is no whole id')
  const unknown = await user.souk('jobs', 'view', 'job_0123456789abcdef')
  expect(unknown.err).not.toContain('no whole id')
  for (const { code, err } of [broken, unknown])
    expect([code, err]).toEqual([3, expect.stringContaining('→ souk jobs list')])
})

test('a seed that does not exist is an answer, and no surprise', async () => {
  const { code, err } = await user.souk('up', '--port', '0', '--seed', 'banana', '--instance', 'other')
  expect([code, err]).toEqual([1, expect.stringContaining('There is no seed banana: use demo or house.')])
  expect(err).not.toContain('not expected')
})

test('every list is tab-separated in a pipe', async () => {
  const commands = await Promise.all(entries.map(({ load }) => load()))
  const lists = commands.filter(({ command }) => / (list|history|messages|bids|search)$/.test(command.name))
  expect(lists.length).toBeGreaterThan(20)
  const without = lists.filter(({ command }) => command.rows === undefined || command.columns === undefined)
  expect(without.map(({ command }) => command.name)).toEqual([])
  expect((await user.souk('services', 'list', '--limit', '2')).out).toMatch(/^svc_\w+\t.*\t/)
})
