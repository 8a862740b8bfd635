import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'

// @slow whole stores are written and replaced

/* A marketplace is taken elsewhere as text, at the command line and by real daemons. */

let user: User
let file: string
beforeAll(async () => {
  user = await openUserAtMarket()
  file = join(user.home, 'market.ndjson')
  await user.register('ann', '20.00')
  await user.json('buy', 'qr_code', '-i', 'data=hello', '--pay', 'x402', '--as', 'ann')
  await user.json('export', '--all', file)
})
afterAll(() => user.close())

const endOf = (text: string) => JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')
const copied = ['--instance', 'copy']

describe('souk export --all', () => {
  test('is for its owner only, and says what it holds', async () => {
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
    const saved = await user.json('export', '--all', file, '--yes')
    expect(saved).toMatchObject({
      file,
      sha256: endOf(readFileSync(file, 'utf8')).sha256,
    })
    expect(readdirSync(user.home).filter((name) => name.includes('.part'))).toEqual([])
    expect((await user.souk('export', '--all', file)).code).toBe(2)
  })

  test('goes to stdout as it is, so that a pipe carries it to another instance', async () => {
    const { code, out } = await user.souk('export', '--all', '-')
    expect(code).toBe(0)
    const { code: imported, err } = await user.soukWith({ stdin: out }, 'import', '-', '--instance', 'piped')
    expect([imported, err]).toEqual([0, ''])
  })

  test.each([
    [['--all'], /file/],
    [['--all', '--only', 'job', 'x.ndjson'], /--only/],
    [['--all', '-', '--jq', '.in'], /in a pipe/],
  ])('says what is wrong with %j', async (words, message) => {
    const { code, out, err } = await user.souk('export', ...words)
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)])
  })
})

describe('souk import', () => {
  test('makes an instance without a store the same marketplace, with an installation of its own', async () => {
    const imported = await user.json('import', file, ...copied)
    expect(imported).toMatchObject({
      replaced: false,
      kept_installation: false,
      sha256: endOf(readFileSync(file, 'utf8')).sha256,
    })
    await user.json('up', '--port', '0', ...copied)
    expect((await user.souk('money', 'audit', '--exit-status', ...copied)).code).toBe(0)
    const [here, there] = [await user.json('health'), await user.json('health', ...copied)]
    expect(there.instance_id).not.toBe(here.instance_id)
    expect((await user.json('participants', 'list', ...copied)).participants).toEqual(
      (await user.json('participants', 'list')).participants,
    )
    // A wallet pays at the new one with a signature of its own.
    const bought = await user.json('buy', 'qr_code', '-i', 'data=again', '--pay', 'x402', '--as', 'ann', ...copied)
    expect(bought.status).toBe('completed')
  })

  test('never replaces a store unless told, and not one whose daemon runs', async () => {
    const running = await user.souk('import', file)
    expect([running.code, running.err]).toEqual([6, expect.stringContaining('→ souk down')])
    await user.json('down', ...copied)
    const there = await user.souk('import', file, ...copied)
    expect([there.code, there.err]).toEqual([6, expect.stringContaining('--replace')])
    const unasked = await user.souk('import', file, '--replace', ...copied)
    expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('--yes')])
    expect(await user.json('import', file, '--replace', '--yes', ...copied)).toMatchObject({
      replaced: true,
      kept_installation: true,
    })
    await user.json('up', '--port', '0', ...copied)
    expect((await user.json('health', ...copied)).instance_id).toBe((await user.json('health')).instance_id)
  })

  test('names line and member of what is damaged, and makes nothing', async () => {
    const bad = join(user.home, 'bad.ndjson')
    writeFileSync(bad, readFileSync(file, 'utf8').replace(/"balance":"(\d)/, '"balance":"9$1'))
    const { code, err } = await user.souk('import', bad, '--instance', 'none')
    expect([code, err]).toEqual([2, expect.stringMatching(/Line \d+, sha256: .*Nothing was changed/s)])
    expect(existsSync(join(user.home, '.local/share/souk/none'))).toBe(false)
    expect((await user.souk('import', join(user.home, 'nowhere'), '--instance', 'none')).code).toBe(2)
  })

  test('is of the local daemon only', async () => {
    mkdirSync(join(user.home, 'empty'))
    const { code, err } = await user.souk('import', file, '--base-url', 'http://127.0.0.1:9')
    expect([code, err]).toEqual([2, expect.stringContaining('local')])
  })
})
