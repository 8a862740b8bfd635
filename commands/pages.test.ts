import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { openUser, type User } from '../fixtures/kit/user.ts'

/* Lists of many pages, raw requests as lines to paste, and the description in another form. */

const exec = promisify(execFile)
const hasCurl = await exec('curl', ['--version']).then(
  () => true,
  () => false,
)

let user: User
beforeAll(async () => {
  // Without programs to find: what they offer would appear while its pages are read.
  user = await openUser({ SOUK_NO_INPUT: '1', PATH: dirname(process.execPath) })
  await user.json('up', '--port', '0', '--seed', 'house')
  await user.register('main', '20')
})
afterAll(() => user?.close())

describe('every page', () => {
  test('of a list that counts its rows is put into one', async () => {
    const { total } = await user.json('services', 'list', '--limit', '1')
    const { services } = await user.json('services', 'list', '--all')
    expect(new Set(services.map(({ id }: { id: string }) => id)).size).toBe(total)
    const merged = await user.json('api', 'getCatalog', '-f', 'limit=3', '--paginate')
    expect([merged.total, merged.services.length]).toEqual([total, total])
    const pages = await user.json('api', 'getCatalog', '-f', 'limit=3', '--paginate', '--slurp')
    expect(pages.map((page: { services: unknown[] }) => page.services.length)).toEqual([
      ...Array(Math.floor(total / 3)).fill(3),
      ...(total % 3 === 0 ? [] : [total % 3]),
    ])
  })

  test('of a list with cursors is followed to its end', async () => {
    await user.register('other', '1')
    for (const name of ['main', 'other']) await user.json('account', 'edit', '--listable', 'yes', '--as', name)
    const { participants } = await user.json('participants', 'list', '--all')
    const paged = await user.json('api', 'getDirectory', '-f', 'limit=1', '--paginate')
    expect(paged.next_cursor).toBe(null)
    expect(paged.participants.length).toBe(participants.length)
    expect(participants.length).toBeGreaterThan(1)
  })

  test('of what is no list is its answer', async () => {
    expect(await user.json('api', '/v1/balance', '--paginate')).toMatchObject({ available: expect.any(String) })
  })

  test('of a list that leads back to itself, or brings nothing, is the last one', async () => {
    let asked = 0
    const server = await serve(() => {
      asked += 1
      return { participants: asked > 3 ? [] : [{ id: asked }], next_cursor: 'again' }
    })
    const { port } = server.address() as AddressInfo
    const line = ['api', '/v1/participants/directory', '--paginate', '--base-url', `http://127.0.0.1:${port}`]
    const { participants } = await user.json(...line)
    expect(participants.length).toBe(2)
    server.close()
  })

  test.each([
    [['--slurp'], 'needs --paginate'],
    [['--paginate', '-i'], 'cannot be combined'],
    [['--paginate', '--idempotency-key', 'k'.repeat(16)], 'cannot be combined'],
    [['--paginate', '-X', 'POST'], 'only with GET'],
  ])('%j is refused', async (flags, why) => {
    const { code, err } = await user.souk('api', '/v1/services/catalog', ...flags)
    expect([code, err]).toEqual([2, expect.stringContaining(why)])
  })
})

async function serve(answer: () => unknown): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

describe('--curl', () => {
  test('shows no credential: it lies in a file that only its owner opens', async () => {
    const { curl, credentials } = await user.json('api', '/v1/balance', '--curl')
    const kept = readFileSync(credentials, 'utf8')
    const [, key = ''] = /^x-api-key: (\S+)$/m.exec(kept) ?? []
    expect(key.length).toBeGreaterThan(16)
    expect(curl).not.toContain(key)
    expect(statSync(credentials).mode & 0o777).toBe(0o600)
    const typed = await user.souk('api', '/v1/balance', '--curl', '-H', 'Authorization: Bearer secret-word')
    expect(typed.out).not.toContain('secret-word')
  })

  test('sends nothing itself', async () => {
    const fields = ['name=Never', 'description=x', 'price=0.50', 'fulfillment_type=human']
    await user.json('api', '/v1/services', ...fields.flatMap((field) => ['-f', field]), '-X', 'POST', '--curl')
    expect((await user.json('services', 'list', '-s', 'Never')).total).toBe(0)
  })

  test.skipIf(!hasCurl)('gives lines that a shell can run, whatever they hold', async () => {
    const run = async (...words: string[]) => {
      const { curl } = await user.json('api', ...words, '--curl')
      return JSON.parse((await exec('/bin/sh', ['-c', `${curl} -sS`])).stdout)
    }
    expect(await run('/v1/balance')).toMatchObject({ available: expect.any(String) })
    expect(await run('getCatalog', '-f', "q=it's [x] {a,b} $(id)")).toMatchObject({ services: [] })
    const fields = ['name=It\'s "odd" $(id)', 'description=`x`', 'price=0.50', 'fulfillment_type=human']
    const made = await run('/v1/services', ...fields.flatMap((field) => ['-f', field]), '-X', 'POST')
    expect(made.name).toBe('It\'s "odd" $(id)')
    expect(await run('/dashboard/api/admin/clock')).toMatchObject({ now: expect.any(String) })
  })
})

test('openapi --yaml is the same description, and goes with no other form', async () => {
  const { out } = await user.souk('openapi', '--yaml')
  expect(parse(out, { maxAliasCount: 0 })).toEqual(await user.json('openapi'))
  for (const other of ['--json', '--check', '--ndjson']) {
    const { code, err } = await user.souk('openapi', '--yaml', other)
    expect([code, err]).toEqual([2, expect.stringContaining('cannot be combined')])
  }
})
