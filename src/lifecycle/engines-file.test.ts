import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openUser, type User } from '../../fixtures/kit/user.ts'

/* A file of engines as `souk up` takes it, by a real daemon in a process of its own. */

/** Stands in files that are refused: nothing of it may be shown. */
const KEY = 'k-0123456789'
let user: User
let file: string

beforeEach(async () => {
  user = await openUser()
  file = join(user.home, 'engines.json')
})
afterEach(() => user.close())

const run = (...words: string[]) => user.souk(...words, '--json')
const up = () => run('up', '--port', '0', '--crons', 'off', '--seed', 'house', '--engines', file)
const state = async () => JSON.parse((await run('status')).out).state
const url = 'https://quotes.example'

test('engines that are named sell what works with them, and their keys are shown nowhere', async () => {
  await writeFile(file, JSON.stringify({ market: { url, key: KEY } }))
  const started = await up()
  expect([started.code, started.err]).toEqual([0, ''])
  const { out } = await run('services', 'list', '--limit', '100')
  expect(out).toContain('Stock')
  const status = await run('status')
  for (const { out, err } of [started, status, await run('doctor'), await run('logs', '--tail', '200')]) {
    expect(out + err).not.toContain(KEY)
  }
})

test('a file that was broken meanwhile leaves the daemon running that a restart was to replace', async () => {
  await writeFile(file, JSON.stringify({ market: { url, key: KEY } }))
  expect((await up()).code).toBe(0)
  await writeFile(file, JSON.stringify({ market: { url } }))
  const { code, err } = await run('restart')
  expect([code, err]).toEqual([2, expect.stringContaining('market.key')])
  expect(await state()).toBe('running')
})

describe('a file of engines is refused by its member, before anything starts', () => {
  test.each<[string, object | string, RegExp]>([
    ['an engine that is not known', { quotes: { url } }, /Unrecognized key.*quotes/],
    ['a member that is not known', { market: { url, key: KEY, token: KEY } }, /market: .*token/],
    ['a missing key', { market: { url } }, /market\.key: /],
    ['an empty key', { market: { url, key: '' } }, /market\.key: /],
    [
      'an address of another scheme',
      { weather: { url: 'ftp://w.example', geocoding_url: url } },
      /weather\.url: must be an http/,
    ],
    ['a text for an engine', { rdap: url }, /rdap: /],
    ['a plan that nobody sells', { coins: { url, plan: 'gold', key: KEY } }, /coins\.plan: /],
    ['a list', [], /the file: /],
    ['no JSON', `{"market": {"key": "${KEY}"`, /is not JSON/],
  ])('%s', async (_, held, said) => {
    await writeFile(file, typeof held === 'string' ? held : JSON.stringify(held))
    const { code, err, out } = await up()
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(said)
    expect(err).toContain(file)
    expect(err).not.toContain(KEY)
    expect(await state()).toBe('stopped')
    expect(existsSync(join(user.home, '.local/share/souk'))).toBe(false)
  })

  test('one that is not there', async () => {
    const { code, err } = await up()
    expect([code, err]).toEqual([2, expect.stringMatching(/engines\.json cannot be read/)])
    expect(await state()).toBe('stopped')
  })
})
