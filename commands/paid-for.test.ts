import { spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'

/* A paid result can always be fetched later, and nothing is paid while its output cannot be written. */

const ENTRY = join(import.meta.dirname, '../bin/souk.ts')
const FULL = '/dev/full'
const KEY = /--idempotency-key ([0-9a-f-]{36}) never pays twice/
const BUY = ['buy', 'qr_code', '-i', 'data=hello', '-y', '--json'] as const

let user: User
beforeAll(async () => {
  user = await openUserAtMarket()
  await user.register('kim', '50.00')
  await user.json('wallet', 'use', 'kim')
})
afterAll(() => user.close())

const jobs = async () => (await user.json('jobs', 'list')).total

/** The program as a process of its own, one of whose streams takes nothing. */
async function soukWithFull(stream: 'stdout' | 'stderr', ...words: readonly string[]) {
  const full = openSync(FULL, 'w')
  const env = { HOME: user.home, PATH: process.env.PATH ?? '', TMPDIR: user.home }
  const child = spawn(process.execPath, [ENTRY, ...words], {
    env,
    stdio: ['ignore', stream === 'stdout' ? full : 'pipe', stream === 'stderr' ? full : 'pipe'],
  })
  const parts: string[] = []
  for (const pipe of [child.stdout, child.stderr]) pipe?.on('data', (part) => parts.push(String(part)))
  const code = await new Promise((resolve) => child.once('close', resolve))
  closeSync(full)
  return { code, text: parts.join('') }
}

describe.skipIf(process.platform !== 'linux')('a purchase whose output takes no more', () => {
  test('says that it is paid, for which job, and what fetches it; the same key never pays twice', async () => {
    const before = await jobs()
    const { code, text } = await soukWithFull('stdout', ...BUY)
    const { error, spent } = JSON.parse(text)
    expect([code, error.exit, error.message]).toEqual([1, 1, 'The disk is full: the output cannot be written.'])
    const facts = error.facts.join()
    const [, job] = /it is paid: (job_[0-9a-f]{16})/.exec(facts) ?? []
    const [, key = ''] = KEY.exec(facts) ?? []
    expect([error.hint, spent.amount]).toEqual([expect.stringMatching(` jobs view ${job}$`), '0.01'])
    expect((await user.json('jobs', 'view', job ?? '')).deliverables).toHaveLength(1)
    const again = await user.json(...BUY.slice(0, -1), '--idempotency-key', key)
    expect([again.job_id, again.payment.method, await jobs()]).toEqual([job, 'none', before + 1])
  })

  test('is whole where only stderr takes nothing', async () => {
    const { code, text } = await soukWithFull('stderr', ...BUY)
    expect([code, JSON.parse(text).status]).toEqual([0, 'completed'])
  })

  test('of a command that paid nothing ends with the sentence alone', async () => {
    const { code, text } = await soukWithFull('stdout', 'services', 'list', '--json')
    expect([code, JSON.parse(text).error.facts]).toEqual([1, ['free some space, then try again']])
  })
})

describe('a result that has no place to go', () => {
  test('is not bought, however often that is tried', async () => {
    const file = join(user.home, 'file')
    writeFileSync(file, '')
    const before = await jobs()
    for (const place of [file, join(file, 'in'), '/proc/nope']) {
      const { code, err } = await user.souk(...BUY, '--save', place)
      const { error } = JSON.parse(err)
      expect([code, error.message]).toEqual([2, `The folder ${place} is not writable.`])
      expect(error.facts).toContain('nothing was paid')
    }
    expect(await jobs()).toBe(before)
  })

  test('is saved into a folder that is made for it', async () => {
    const place = join(user.home, 'not/yet')
    const { files, job_id: job } = await user.json(...BUY.slice(0, -1), '--save', place)
    expect(readdirSync(place)).toHaveLength(files.length)
    expect(readdirSync(place).every((name) => name.startsWith(job))).toBe(true)
  })
})

test('a purchase whose waiting is ended says the same', async () => {
  await user.register('sal', '1.00')
  const listing = join(user.home, 'listing.json')
  const fields = { name: 'By hand', description: 'x', price: '0.10', fulfillment_type: 'human' }
  writeFileSync(listing, JSON.stringify(fields))
  const { id } = await user.json('services', 'create', '-f', listing, '--as', 'sal')
  const before = await jobs()
  const stop = new AbortController()
  const bought = user.soukWith({ interrupt: stop.signal }, 'buy', id, '--wait', '-y', '--json')
  await expect.poll(jobs).toBe(before + 1)
  stop.abort()
  const { code, err } = await bought
  const { facts, hint } = JSON.parse(err.trim().split('\n').at(-1) ?? '').error
  const [, key] = KEY.exec(facts.join()) ?? []
  const [, job] = /it is paid: (job_[0-9a-f]{16});/.exec(facts.join()) ?? []
  // If the answer had not arrived yet, the command can only say that it may have been paid.
  expect([code, hint]).toEqual([130, job ? `souk jobs view ${job}` : expect.stringContaining(`${key}`)])
  const again = await user.souk('buy', id, '-y', '--wait=1ms', '--json', '--idempotency-key', String(key))
  // It is still at work.
  expect([again.code, JSON.parse(again.out).payment.method]).toEqual([8, 'none'])
  expect(await jobs()).toBe(before + 1)
})
