import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUser, type User } from '../fixtures/kit/user.ts'
import { flagOf, membersOf } from '../src/cli/option-shape.ts'
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
  expect((await user.souk('doctor')).out).toMatch(/^clock\tok\tagrees\t?$/m)
  await user.json('clock', 'advance', '62d')
  expect((await user.souk('doctor')).out).toMatch(/^clock\t\w+\tagrees; business time was moved 6[12]d.* ahead/m)
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
  expect(broken.err).toContain('"job_0123" is not a complete id')
  const unknown = await user.souk('jobs', 'view', 'job_0123456789abcdef')
  expect(unknown.err).not.toContain('not a complete id')
  for (const { code, err } of [broken, unknown])
    expect([code, err]).toEqual([3, expect.stringContaining('→ souk jobs list')])
})

test('a seed that does not exist is an answer, and no surprise', async () => {
  const { code, err } = await user.souk('up', '--port', '0', '--seed', 'banana', '--instance', 'other')
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/There is no seed "banana"\.[\s\S]*choose one of demo, house, none, or a file/),
  ])
  expect(err).not.toContain('unexpected error')
})

test('every list is tab-separated in a pipe', async () => {
  const commands = await Promise.all(entries.map(({ load }) => load()))
  const lists = commands.filter(({ command }) => / (list|history|messages|bids|search)$/.test(command.name))
  expect(lists.length).toBeGreaterThan(20)
  const without = lists.filter(({ command }) => command.rows === undefined || command.columns === undefined)
  expect(without.map(({ command }) => command.name)).toEqual([])
  expect((await user.souk('services', 'list', '--limit', '2')).out).toMatch(/^svc_\w+\t.*\t/)
})

test('an input that the listing refuses is refused before anything is signed, with its schema to look at', async () => {
  for (const how of ['x402', 'balance']) {
    const { code, out, err } = await user.souk('buy', 'qr_code', '-i', 'data=', '--pay', how, '--yes')
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/"QR code" needs another data: it must have at least 1 character; you gave ""/)
    expect(err).toMatch(/→ souk services view svc_[0-9a-f]{16} --schema/)
    expect(err).not.toContain('spent')
  }
})

test('a daemon that crashed is told with the line that starts that one again', async () => {
  const { pid } = await user.json('up', '--port', '0', '--instance', 'gone')
  process.kill(pid, 'SIGKILL')
  const status = () => user.souk('status', '--instance', 'gone')
  await expect.poll(async () => (await status()).out).toContain('crashed')
  expect((await status()).out).toContain('→ souk restart --instance gone')
  expect(await user.json('status', '--instance', 'gone')).toMatchObject({ next: 'souk restart --instance gone' })
})

test('an amount above the limit is answered with the line that raises it, once', async () => {
  const { code, err } = await user.souk('buy', 'qr_code', '-i', 'data=limit', '--max-price', '0.001')
  expect(code).toBe(5)
  expect(err).toMatch(/→ souk buy qr_code -i data=limit --max-price 0\.\d+\n/)
})

const numeric = (await Promise.all(entries.filter(({ aliasOf }) => !aliasOf).map(({ load }) => load()))).flatMap(
  ({ command }) =>
    membersOf(command.options)
      .filter(([, { kind }]) => kind === 'number')
      .map(([key, shape]) => [command, flagOf(key, shape)] as const),
)

test('a word for a number is refused, and the option is named', async () => {
  expect(numeric.length).toBeGreaterThan(20)
  for (const [command, flag] of numeric) {
    const needed = membersOf(command.args).flatMap(([, { required }]) => (required ? ['x'] : []))
    const { code, out, err } = await user.souk(...command.name.split(' '), ...needed, flag, 'banana')
    expect([command.name, code, out]).toEqual([command.name, 2, ''])
    expect(err).toContain(`${flag} must be a number; you gave "banana"`)
  }
})
