import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'

/* What was recorded is asked again: by whoever asks now, of whichever instance, and told apart from what it was. */

let user: User
let story: string
beforeAll(async () => {
  user = await openUserAtMarket({ SOUK_NO_INPUT: '1' })
  await user.register('main', '20')
  story = join(user.home, 'story.ndjson')
  const record = (...words: string[]) => user.json(...words, '--record', story)
  await record('services', 'list', '-s', 'qr code', '--limit', '1')
  const { id } = await record('services', 'create', '--set', 'name=Echo', ...listed)
  await record('services', 'view', id)
  await record('services', 'edit', id, '--set', 'price=0.60')
  await record('buy', 'qr_code', '-i', 'data=x', '--pay', 'x402', '--yes')
})
afterAll(() => user?.close())

const listed = ['--set', 'description=Echoes', '--set', 'price=0.50', '--set', 'fulfillment_type=human']
const written = (name: string, ...lines: readonly unknown[]) => {
  const file = join(user.home, name)
  writeFileSync(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
  return file
}
const line = (more: object = {}) => ({
  recorded: 1,
  at: '2026-11-22T18:00:00.000Z',
  method: 'GET',
  path: '/health',
  auth: 'none',
  status: 200,
  ...more,
})
const replayed = async (...words: string[]) => {
  const { code, out, err } = await user.souk('replay', ...words, '--json')
  return { code, err, data: out === '' ? undefined : JSON.parse(out) }
}
const listings = async () => (await user.json('services', 'list', '-s', 'Echo')).total

test('a story goes again at another instance, where what it made has other ids', async () => {
  await user.json('up', '--port', '0', '--seed', 'house', '--instance', 'other')
  const there = ['--instance', 'other']
  await user.json('wallet', 'fund', 'main', ...there)
  await user.json('account', 'register', '--role', 'both', ...there)
  const { code, data } = await replayed(story, '--yes', ...there)
  expect(data.results.filter(({ outcome }: { outcome: string }) => outcome === 'different')).toEqual([])
  expect([code, data.different, data.no_answer, data.not_sent]).toEqual([0, 0, 0, 0])
  expect(data.skipped).toBe(1)
  const { services } = await user.json('services', 'list', '-s', 'Echo', ...there)
  expect(services.map(({ price }: { price: object }) => price)).toEqual([{ fixed: '$0.60' }])
  expect(readFileSync(story, 'utf8')).not.toContain(services[0].id)
  await user.json('down', ...there)
})

test('a recording holds no credential, no signature and nothing that was answered but ids', async () => {
  const text = readFileSync(story, 'utf8')
  const secrets = readFileSync(join(user.home, '.config/souk/secrets.json'), 'utf8')
  const keys = secrets.match(/(sk|adm|jt)_[0-9a-f]{40,}/g) ?? []
  expect(keys.length).toBeGreaterThan(0)
  for (const key of keys) expect(text).not.toContain(key)
  expect(text).not.toMatch(/0x[0-9a-f]{130}|x-payment|eyJ/i)
  expect(text).not.toContain('QR code')
})

test('nothing that may change something is sent without a yes, and reads alone need none', async () => {
  const before = await listings()
  const { code, err } = await replayed(story)
  expect(code).toBe(2)
  expect(err).toContain('requests may change something at local')
  const reads = await replayed(story, '--reads')
  expect([reads.code, reads.data.different]).toEqual([0, 0])
  const plan = await replayed(story, '--dry-run')
  expect([plan.code, plan.data.instance, plan.data.same]).toEqual([0, null, 0])
  expect(await listings()).toBe(before)
})

test('what was paid for is paid again only when asked, within the limit, and once for a run however often', async () => {
  const spent = async () => Number((await user.json('wallet', 'spend')).total ?? 0)
  const before = await spent()
  const left = await replayed(story, '--yes')
  expect([left.data.paid, left.data.skipped, await spent()]).toEqual(['0.00', 1, before])
  const limited = await replayed(story, '--yes', '--paid', '--max-price', '0.001')
  expect([limited.code, limited.data.not_sent, limited.data.paid]).toEqual([5, 1, '0.00'])
  const run = ['--yes', '--paid', '--idempotency-key', 'one-run']
  const first = await replayed(story, ...run)
  expect([first.code, first.data.skipped, first.data.idempotency_key]).toEqual([0, 0, 'one-run'])
  expect(Number(first.data.paid)).toBeGreaterThan(0)
  expect((await replayed(story, ...run)).data.paid).toBe('0.00')
})

test('what an answer lost, gained or became is named by its place, with exit 11', async () => {
  const shape = { '.': 'object', '.status': 'number', '.gone': 'string' }
  const file = written('changed.ndjson', line({ shape }), line({ status: 404 }))
  const { code, out } = await user.souk('replay', file)
  expect(code).toBe(11)
  expect(out).toMatch(/\.status number → string, .*\.gone is gone/)
  expect(out).toMatch(/^2\tGET \/health\t404\t200\tdifferent/m)
  expect((await replayed(file, '--status-only')).data).toMatchObject({ same: 1, different: 1 })
  expect((await replayed(written('one.ndjson', line({ shape })), '--ignore', '.')).code).toBe(11)
})

test('an instance that no longer answers ends the run with exit 11, and says what was not sent', async () => {
  const { code, data } = await replayed(written('two.ndjson', line(), line()), '--base-url', 'http://127.0.0.1:9')
  expect(code).toBe(11)
  expect(data.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['no_answer', 'not_sent'])
})

test('the lines of the log can be asked again, as far as a log tells what was asked', async () => {
  const logged = (await user.souk('logs', '--json')).out
  const { code, data } = await replayed(written('log.ndjson', ...logged.trim().split('\n')), '--yes')
  expect(data.format).toBe('log')
  expect(data.same).toBeGreaterThan(0)
  const skipped = data.results.filter(({ outcome }: { outcome: string }) => outcome === 'skipped')
  expect(skipped.map(({ why }: { why: string }) => why)).toContain('not recorded: its body: a log keeps none')
  expect([0, 11]).toContain(code)
})

const entry = (url: string, more: object = {}) => ({
  time: 3,
  request: { method: 'GET', url, headers: [{ name: 'X-API-Key', value: 'sk_x' }], ...more },
  response: { status: 200, content: { mimeType: 'application/json', text: '{"status":"ok"}' } },
})
const har = (...entries: unknown[]) => JSON.stringify({ log: { version: '1.2', entries } })

test('a HAR file is asked of one of its hosts, and none of its credentials goes along', async () => {
  const file = written('page.har', har(entry('https://a.example/health'), entry('https://b.example/x?y=1')))
  expect((await replayed(file)).err).toContain('choose one with --origin')
  const { data } = await replayed(file, '--origin', 'https://a.example')
  expect(data.results.map(({ path, is }: { path: string; is: number }) => [path, is])).toEqual([['/health', 200]])
  const plan = await replayed(file, '--origin', 'https://b.example', '--dry-run')
  expect(JSON.stringify(plan.data)).not.toContain('sk_x')
})

describe('a file that cannot be trusted is refused by line and field, and nothing is sent', () => {
  const deep = `{"recorded":1,"body":${'['.repeat(200_000)}`
  test.each<readonly [string, readonly unknown[], string]>([
    ['another host', [line(), line({ path: '//evil.example/x' })], 'line 2: path must be a path of an instance'],
    ['a way up', [line({ path: '/v1/../dashboard' })], 'line 1: path must be a path'],
    ['a method', [line({ method: 'CONNECT' })], 'line 1: method must be one of GET'],
    ['a status', [line({ status: 9 })], 'line 1: status must be at least 100'],
    ['no JSON', [line(), '', '{'], 'line 3: it must be one JSON object'],
    ['something else', [{ hello: 1 }], 'line 1: recorded must be 1'],
    ['an id that is none', [line({ ids: { '.id': '../../x' } })], 'line 1: ids..id must have the form'],
    ['nesting', [deep], 'line 1: it must be'],
    ['length', [line({ path: `/${'x'.repeat(9_000)}` })], 'line 1: path must be at most 8192'],
    ['a long line', [line({ body: 'x'.repeat(1_100_000) })], 'line 1: it must be at most 1.0 MB long'],
    ['nothing', [''], 'holds no request'],
    [
      'a HAR without a method',
      [har({ ...entry('http://a/x'), request: { url: 'http://a' } })],
      'entry 1: request.method is missing',
    ],
    ['a HAR of a file', [har(entry('file:///etc/passwd'))], 'entry 1: request.url must be an http or https address'],
    ['a HAR of lists', ['{"log":{"entries":7}}'], 'log.entries must be a list'],
  ])('%s', async (_, lines, said) => {
    const { code, err } = await replayed(written('hostile.ndjson', ...lines), '--yes')
    expect(code).toBe(2)
    expect(JSON.parse(err).error.message).toContain(said)
  })

  test('a recording whose body holds a key is not sent, and what an administrator sent only when asked', async () => {
    const file = written(
      'odd.ndjson',
      line({ method: 'POST', path: '/v1/trace', auth: 'key', body: { signature: '0x12' } }),
      line({ method: 'POST', path: '/dashboard/api/admin/platform/pause', auth: 'key', body: {} }),
    )
    const { code, err } = await replayed(file, '--yes')
    expect(code).toBe(2)
    expect(err).toContain('a credential, signature of its body')
    expect(err).toContain('administrative; --admin sends it')
    expect((await user.json('admin', 'platform', 'status')).paused).toBe(false)
  })
})
