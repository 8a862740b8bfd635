import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runLine } from '../../fixtures/kit/command-line.testkit.ts'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { groups } from '../../src/cli/run/groups.ts'
import { entries } from '../index.ts'

// @slow whole stores are packed and replaced

/* A marketplace is saved, lost, and brought back, at the command line and by real daemons. */

let home: string
let tar: string
/** Of what the house sells, that which needs no program: the rest is listed once its programs have been found. */
const LISTED = ['services', 'list', '--search', 'qr']
let listings: number

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-restore-'))
  tar = join(home, 'market.tar')
  await json('up', '--port', '0', '--seed', 'house')
  for (const words of [
    ['new', 'ann'],
    ['fund', 'ann'],
  ])
    await json('wallet', ...words)
  await json('account', 'register')
  listings = (await json(...LISTED)).total
  expect(listings).toBeGreaterThan(0)
  await json('admin', 'backup', tar)
  await json('down')
})
afterAll(async () => {
  await souk('down', '--all')
  await rm(home, { recursive: true })
})
beforeEach(() => souk('down', '--all'))

function souk(...words: string[]) {
  return runLine({ entries, groups }, words, {
    env: { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home, SOUK_NO_INPUT: '1' },
    self: [process.execPath, PROGRAM],
    now: () => Date.now(),
  })
}

async function json(...words: string[]) {
  const { code, out, err } = await souk(...words, '--json')
  if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`)
  return JSON.parse(out)
}

const dataOf = (instance: string) => join(home, '.local/share/souk', instance)
/** Every file of a store but its lock, with its content's hash. */
function contentOf(instance: string): Record<string, string> {
  const store = join(dataOf(instance), 'store')
  const files = readdirSync(store, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('lock'))
  const whole = files.filter((name) => statSync(join(store, name)).isFile())
  return Object.fromEntries(
    whole.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(store, name)))
        .digest('hex'),
    ]),
  )
}

describe('a backup', () => {
  test('is a file for its owner only, and replaces none unless told', async () => {
    expect((statSync(tar).mode & 0o777).toString(8)).toBe('600')
    await json('up', '--port', '0')
    const before = readFileSync(tar)
    const { code, err } = await souk('admin', 'backup', tar)
    expect([code, err]).toEqual([6, expect.stringContaining('--force')])
    expect(readFileSync(tar).equals(before)).toBe(true)
    expect((await souk('admin', 'backup', join(home, 'dry.tar'), '--dry-run')).code).toBe(0)
    expect(existsSync(join(home, 'dry.tar'))).toBe(false)
  })

  test('goes to stdout as it is', async () => {
    await json('up', '--port', '0')
    const { code, out } = await souk('admin', 'backup', '-')
    expect([code, out.includes('MANIFEST.json')]).toEqual([0, true])
  })

  test('makes another instance what the first one was: records, credentials, and books that agree', async () => {
    const restored = await json('restore', tar, '--instance', 'other')
    expect(restored).toMatchObject({ replaced: false, data_dir: dataOf('other') })
    await json('up', '--port', '0', '--instance', 'other')
    expect((await json(...LISTED, '--instance', 'other')).total).toBe(listings)
    expect((await json('participants', 'list', '--instance', 'other')).participants).toHaveLength(1)
    expect((await souk('money', 'audit', '--exit-status', '--instance', 'other')).code).toBe(0)
  })
})

describe('a restore', () => {
  test('replaces a store only with --force, and takes back what happened since', async () => {
    await json('up', '--port', '0')
    await json('wallet', 'fund', 'ann', '--amount', '7')
    await json('account', 'edit', '--name', 'Later')
    await json('down')
    const before = contentOf('default')
    const refused = await souk('restore', tar)
    expect([refused.code, refused.err]).toEqual([6, expect.stringContaining('--force')])
    expect((await souk('restore', tar, '--force', '--dry-run')).code).toBe(0)
    expect(contentOf('default')).toEqual(before)
    expect(await json('restore', tar, '--force')).toMatchObject({ replaced: true })
    expect(readdirSync(dataOf('default')).filter((name) => /replaced|backup-|\.db/.test(name))).toEqual([])
    await json('up', '--port', '0')
    expect((await json('account', 'show')).name).not.toBe('Later')
  })

  test('waits for nobody: while the daemon runs it is refused', async () => {
    await json('up', '--port', '0')
    for (const words of [
      ['restore', tar, '--force'],
      ['reset', '--yes'],
    ]) {
      const { code, err } = await souk(...words)
      expect([code, err]).toEqual([6, expect.stringContaining('→ souk down')])
    }
    expect((await json(...LISTED)).total).toBe(listings)
  })

  test('of another instance than the local one is refused', async () => {
    for (const words of [
      ['restore', tar],
      ['reset', '--yes'],
      ['snapshots', 'save', 'x'],
    ]) {
      const { code, err } = await souk(...words, '--base-url', 'http://127.0.0.1:9')
      expect([code, err]).toEqual([2, expect.stringContaining('local')])
    }
  })

  test.each<[string, (file: string) => Promise<void>]>([
    ['is none', async (file) => writeFileSync(file, Buffer.alloc(2_048, 'x'))],
    ['is not a store', async (file) => writeFileSync(file, await tarOf('notes.txt'))],
    ['leads out of its folder', async (file) => writeFileSync(file, await tarOf('../../outside'))],
    ['was cut', async (file) => writeFileSync(file, readFileSync(tar).subarray(0, statSync(tar).size / 2))],
    ['has a flipped bit', async (file) => flip(file)],
  ])('of a file that %s changes nothing', async (_, make) => {
    const file = join(home, 'bad.tar')
    await make(file)
    const before = contentOf('default')
    const { code, err } = await souk('restore', file, '--force')
    expect([code, err]).toEqual([2, expect.stringMatching(/is (not a|a broken) backup/)])
    expect(err).not.toContain('doctor')
    expect(contentOf('default')).toEqual(before)
    expect(readdirSync(dataOf('default')).filter((name) => name.startsWith('backup-'))).toEqual([])
  })

  async function tarOf(name: string): Promise<Buffer> {
    const made = pack()
    made.entry({ name }, 'x')
    made.finalize()
    return buffer(made)
  }

  /** Inside a transaction: the tar is as whole as before. */
  function flip(file: string): void {
    copyFileSync(tar, file)
    const bytes = readFileSync(file)
    const at = bytes.indexOf('"participants"')
    bytes[at + 2] = (bytes[at + 2] ?? 0) ^ 1
    writeFileSync(file, bytes)
  }

  test('of a file that is not there says so', async () => {
    expect((await souk('restore', join(home, 'nowhere.tar'))).code).toBe(2)
  })
})

describe('a snapshot', () => {
  const named = async () => (await json('snapshots', 'list')).snapshots.map(({ name }: { name: string }) => name)

  test('is saved from a running and from a stopped daemon, and gone back to', async () => {
    await json('up', '--port', '0')
    await json('account', 'edit', '--name', 'Early')
    await json('snapshots', 'save', 'early')
    await json('account', 'edit', '--name', 'Late')
    await json('down')
    await json('snapshots', 'save', 'late')
    expect(await named()).toEqual(['late', 'early'])
    for (const [name, shown] of [
      ['early', 'Early'],
      ['late', 'Late'],
    ] as const) {
      await json('snapshots', 'restore', name, '--yes')
      await json('up', '--port', '0')
      expect((await json('account', 'show')).name).toBe(shown)
      await json('down')
    }
  })

  test.each<[string, string[], number, RegExp]>([
    ['that is there', ['save', 'early'], 6, /--force/],
    ['with a name that leads out', ['save', '../early'], 2, /lower-case/],
    ['that is none', ['restore', 'erly', '--yes'], 3, /did you mean early/],
    ['that nobody agreed to', ['restore', 'early'], 2, /--yes/],
    ['of no store', ['save', 'x', '--instance', 'empty'], 3, /souk up/],
  ])('%s is refused', async (...[, words, code, message]) => {
    const ran = await souk('snapshots', ...words)
    expect([ran.code, ran.err]).toEqual([code, expect.stringMatching(message)])
  })
})

describe('a reset', () => {
  const wallets = async () => (await json('wallet', 'list')).total

  test('asks, and keeps wallets, settings and snapshots unless told', async () => {
    expect((await souk('reset')).code).toBe(2)
    expect((await souk('reset', '--keep', 'walets', '--yes')).code).toBe(2)
    expect(existsSync(join(dataOf('default'), 'store', 'MANIFEST.json'))).toBe(true)
    expect(await json('reset', '--yes')).toMatchObject({ removed: ['data'], kept: ['wallets', 'config'] })
    expect(readdirSync(dataOf('default'))).toEqual(['store'])
    expect(contentOf('default')).toEqual({})
    expect(await wallets()).toBe(1)
    expect((await json('snapshots', 'list')).total).toBeGreaterThan(0)
    await json('up', '--port', '0', '--seed', 'none')
    expect((await json('services', 'list')).total).toBe(0)
    expect((await souk('account', 'show')).err).toContain('souk account register')
  })

  test('removes the wallets where they are not kept', async () => {
    expect(await json('reset', '--keep', 'none', '--yes')).toMatchObject({ removed: ['data', 'wallets', 'config'] })
    expect(await wallets()).toBe(0)
    expect((await souk('reset', '--yes')).code).toBe(0)
  })
})
