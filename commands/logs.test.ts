import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'

/* Whoever got an id of a request can ask what it was, and what it led to. */

let user: User
beforeAll(async () => {
  user = await openUserAtMarket({ SOUK_NO_INPUT: '1' })
  await user.register('main', '20')
})
afterAll(() => user?.close())

async function lines(...words: string[]) {
  const { out } = await user.souk('logs', ...words, '--ndjson')
  return out
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

test('the id of an error that was just printed is never unknown', async () => {
  const { code, err } = await user.souk('api', '/v1/nowhere/at-all')
  const [id = ''] = /req_[0-9a-f]{16}/.exec(err) ?? []
  expect(code).not.toBe(0)
  expect(await lines('--request', id)).toMatchObject([{ request_id: id, status: 404, path: '/v1/nowhere/at-all' }])
  const told = await user.souk('why', id)
  expect([told.code, told.out]).toEqual([0, expect.stringContaining('GET /v1/nowhere/at-all, answered 404')])
})

test('a purchase is one tree, by its job', async () => {
  const { job_id: job } = await user.json('buy', 'qr_code', '-i', 'data=hello', '--pay', 'x402', '--yes')
  const { out } = await user.souk('why', job)
  const order = ['402 requested', 'answered 200', 'signed $', 'settled', 'QR'].map((text) => out.indexOf(text))
  expect(order).toEqual(order.toSorted((one, two) => one - two))
  expect(order.every((at) => at >= 0)).toBe(true)
  expect(out).toMatch(/^ {3}[├└]─ ./m)
  expect(await lines('--job', job, '--method', 'POST')).toMatchObject([{ job_id: job, status: 200 }])
})

test('filters leave out the rest, and a bad one is refused by name', async () => {
  for (const { status } of await lines('--status', '4xx')) expect(String(status)).toMatch(/^4/)
  const { code, err } = await user.souk('logs', '--status', 'banana')
  expect([code, err]).toEqual([2, expect.stringContaining('--status')])
})

test('what is followed comes as it happens', async () => {
  const over = new AbortController()
  const seen: string[] = []
  const following = user.soukWith(
    { interrupt: over.signal, onOut: (text) => seen.push(text) },
    ...['logs', '-f', '--tail', '0', '--source', 'http', '--path', '/v1/nothing-here', '--ndjson'],
  )
  while (!seen.join('').includes('nothing-here')) await user.souk('api', '/v1/nothing-here')
  over.abort()
  expect((await following).code).toBe(130)
})

test('an id of nothing is said to be one, with what there is', async () => {
  for (const words of [
    ['logs', '--request', 'req_0123456789abcdef'],
    ['why', 'job_0123456789abcdee'],
    ['why', 'banana'],
  ]) {
    const { code, out, err } = await user.souk(...words)
    expect({ words, code, out }).toEqual({ words, code: 3, out: '' })
    expect(err).toMatch(/in memory|No trace of|is not the id/)
  }
})

test('what is sent and answered is shown where it is asked for, and no key, token or signature of it', async () => {
  const words = ['buy', 'qr_code', '-i', 'data=hello', '--pay', 'x402', '--yes', '--json']
  const { out, err } = await user.souk(...words, '--debug=http')
  expect(JSON.parse(out)).toMatchObject({ status: 'completed' })
  for (const line of ['/purchase', 'payment-signature: ‹redacted›', '< 402 in', '{"data":"hello"}', '< 200 in'])
    expect(err).toContain(line)
  const env = { HOME: user.home, TMPDIR: user.home, SOUK_DEBUG: 'http' }
  const asAdmin = await user.soukWith({ env }, 'admin', 'jobs', 'list')
  expect(asAdmin.err).toContain('> authorization: ‹redacted›')
  const all = err + asAdmin.err
  const files = ['.config/souk/secrets.json', '.config/souk/wallets/main.json', '.local/share/souk/default/admin.key']
  const kept = files.map((file) => readFileSync(join(user.home, file), 'utf8')).join()
  const keys = kept.match(/\b(sk|adm|jt|whsec)_[\w+/=]+|\b0x[0-9a-f]{64}\b/g) ?? []
  expect(keys.length).toBeGreaterThan(2)
  expect(keys.filter((key) => all.includes(key))).toEqual([])
  expect(all).not.toMatch(/0x[0-9a-f]{130}|"signature":"0x/)
  const other = await user.souk('services', 'list', '--debug=banana')
  expect([other.code, other.err]).toEqual([2, expect.stringContaining('--debug takes no value or one of http')])
})
