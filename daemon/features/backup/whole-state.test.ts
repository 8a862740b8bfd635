import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommerce } from '../../../fixtures/commerce/run.ts'
import type { Scene } from '../../../fixtures/commerce/scene.ts'
import { configDefaults } from '../../../fixtures/kit/config.ts'
import { callsTo, type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Marked, markEverything } from '../../../fixtures/scenarios/private-things.ts'
import { openStage, type Stage } from '../../../fixtures/scenarios/stage.ts'
import { take } from '../../../fixtures/scenarios/steps.ts'
import { createDaemon, exportData, importData } from '../../index.ts'
import { STORE_FOLDER } from './import-state.ts'

// @slow a marketplace with everything in it, and random ones, are moved

let home: string
let market: Marketplace
let stage: Stage
let marked: Marked
let whole: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-whole-'))
  market = await openMarketplace({ durability: 'full' })
  stage = openStage(market)
  marked = await markEverything(stage)
  await take(stage, ['a file', 'an identity of the provider', 'a referred buyer', 'a referral reward'])
  await market.daemon.stop()
  whole = await exported(market.dir)
})
afterAll(async () => {
  await marked.hook.close()
  for (const dir of [market.dir, home]) await rm(dir, { recursive: true, force: true })
})

async function exported(dataDir: string, options: { tarFile?: string } = {}): Promise<string> {
  const parts: string[] = []
  const lines = async (text: string) => void parts.push(text)
  await exportData(dataDir, { ...options, lines })
  return parts.join('')
}

async function* bytes(text: string | Buffer): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text)
  for (let at = 0; at < all.byteLength; at += 1_000) yield all.subarray(at, at + 1_000)
}

let folders = 0
const freshFolder = () => join(home, `data-${folders++}`)

async function imported(text: string | Buffer, { keep = false, dataDir = freshFolder() } = {}) {
  return { dataDir, ...(await importData(dataDir, { chunks: bytes(text), keep })) }
}

const hashOf = (text: string): string => JSON.parse(text.trimEnd().split('\n').at(-1) ?? '').sha256

async function atDaemon<T>(dataDir: string, act: (calls: ReturnType<typeof callsTo>) => Promise<T>): Promise<T> {
  const daemon = await createDaemon({ ...configDefaults, dataDir })
  try {
    return await act(callsTo(() => daemon.url, dataDir))
  } finally {
    await daemon.stop()
  }
}

const audited = (dataDir: string) =>
  atDaemon(dataDir, async ({ admin }) => {
    const { body } = await admin('GET', '/dashboard/api/admin/audit')
    return body.checks.filter(({ ok }: { ok: boolean }) => !ok)
  })

describe('a whole state', () => {
  test('makes an empty folder the same marketplace, by the hash of all rows and files, and its books agree', async () => {
    const { dataDir, sha256 } = await imported(whole)
    const again = await exported(dataDir)
    expect([hashOf(again), sha256]).toEqual([hashOf(whole), hashOf(whole)])
    expect(again.split('\n').slice(1, -2)).toEqual(whole.split('\n').slice(1, -2))
    expect(await audited(dataDir)).toEqual([])
  })

  test('is an installation of its own: no address and no secret of the old one stands anywhere in the new one', async () => {
    const { dataDir } = await imported(whole)
    await audited(dataDir)
    const own = (text: string) => JSON.parse(text.split('\n')[0] ?? '').installation
    const [was, is] = [own(whole), own(await exported(dataDir))]
    for (const name of ['asset', 'pay_to']) expect(is[name]).not.toBe(was[name])
    expect(is.settings.identity.instance_id).not.toBe(was.settings.identity.instance_id)
    expect(is.settings.identity.admin_key_hash).not.toBe(was.settings.identity.admin_key_hash)
    expect(is.settings.verification_vendor).not.toEqual(was.settings.verification_vendor)
  })

  test('kept as the installation that it was has the same values, and people’s keys stay good in both', async () => {
    const { dataDir } = await imported(whole, { keep: true })
    const { key, id } = await stage.person('buyer')
    const profile = await atDaemon(dataDir, ({ call }) =>
      call('GET', `/v1/participants/${id}`, { headers: { 'X-API-Key': key } }),
    )
    expect(profile.body.participant_id).toBe(id)
    const [was, is] = [whole, await exported(dataDir)].map((text) => JSON.parse(text.split('\n')[0] ?? '').installation)
    expect([is.asset, is.pay_to, is.settings.verification_vendor]).toEqual([
      was.asset,
      was.pay_to,
      was.settings.verification_vendor,
    ])
    expect(is.settings.identity.instance_id).toBe(was.settings.identity.instance_id)
  })

  test('without an installation, as earlier versions wrote it, makes a new one and cannot be kept as it was', async () => {
    const [header = '', ...rest] = whole.trimEnd().split('\n')
    const bare = JSON.stringify({ ...JSON.parse(header), installation: null })
    const end = JSON.parse(rest.pop() ?? '')
    const header_sha256 = createHash('sha256').update(`${bare}\n`).digest('hex')
    const copy = `${[bare, ...rest, JSON.stringify({ ...end, header_sha256 })].join('\n')}\n`
    expect((await imported(copy)).sha256).toBe(hashOf(whole))
    await expect(imported(copy, { keep: true })).rejects.toThrow(/Line 1, installation: .*--replace/)
  })

  test('of one transaction comes out the same each time', async () => {
    expect(hashOf(await exported(market.dir))).toBe(hashOf(whole))
  })
})

describe('a file that is not what was written', () => {
  const lines = () => whole.trimEnd().split('\n')
  const change = (at: number, edit: (line: string) => string) =>
    `${lines()
      .map((line, n) => (n === at ? edit(line) : line))
      .join('\n')}\n`
  const lineOf = (start: string) => lines().findIndex((line) => line.startsWith(start))
  const swapped = (at: number) => {
    const all = lines()
    ;[all[at], all[at + 1]] = [all[at + 1] ?? '', all[at] ?? '']
    return `${all.join('\n')}\n`
  }
  const jobAt = () => lineOf('{"in":"jobs"')
  const fileAt = () => lineOf('{"file"')

  test.each<[string, () => string | Buffer, RegExp]>([
    ['empty', () => '', /Line 1: the file is empty/],
    ['of something else', () => '{"kind":"export"}\n', /Line 1, souk: .*souk export --all/],
    ['no text', () => Buffer.from([0xff, 0xfe, 0x0a]), /Line 1: is not JSON/],
    ['of a later form', () => change(0, (line) => line.replace('"format":1', '"format":2')), /Line 1, format/],
    [
      'of a later store',
      () => change(0, (line) => line.replace(/"store_format":\d+/, '"store_format":99')),
      /store_format: .*upgrade/,
    ],
    ['cut between two lines', () => `${lines().slice(0, -1).join('\n')}\n`, /the end is missing/],
    ['cut in a line', () => whole.slice(0, -20), /ends inside this line/],
    ['longer than its end', () => `${whole}{}\n`, /after the end/],
    [
      'without one of its rows',
      () =>
        `${lines()
          .filter((_, n) => n !== jobAt())
          .join('\n')}\n`,
      /counts\.jobs: declares \d+, but \d+ were found/,
    ],
    ['in another order', () => swapped(jobAt()), /is out of order/],
    ['twice the same row', () => change(jobAt(), (line) => `${line}\n${line}`), /duplicate /],
    [
      'changed in an amount',
      () => change(lineOf('{"in":"accounts"'), (line) => line.replace(/"balance":"(-?)\d/, '"balance":"$19')),
      /sha256: an earlier line was changed/,
    ],
    [
      'changed in its first line',
      () => change(0, (line) => line.replace(/"made_at":"2/, '"made_at":"3')),
      /header_sha256/,
    ],
    [
      'with a row of another shape',
      () => change(jobAt(), (line) => line.replace('"buyer_wallet":"', '"buyer_wallet":5,"x":"')),
      /Line \d+, row\.buyer_wallet/,
    ],
    ['with a row of nothing', () => change(jobAt(), () => '{"in":"jobs"}'), /Line \d+, row/],
    [
      'with a collection nobody knows',
      () => change(jobAt(), (line) => line.replace('"jobs"', '"jobz"')),
      /jobz|no such collection/,
    ],
    [
      'with an amount that is none',
      () => change(lineOf('{"in":"accounts"'), (line) => line.replace(/"balance":"-?\d+"/, '"balance":"12.5"')),
      /Line \d+, in: /,
    ],
    [
      'with two of one wallet',
      () => {
        const at = lineOf('{"in":"participants"')
        const wallet = /"wallet":"0x[0-9a-f]+"/.exec(lines()[at] ?? '')?.[0] ?? ''
        return change(at + 1, (line) => line.replace(/"wallet":"0x[0-9a-f]+"/, wallet))
      },
      /row\.wallet: an earlier row has the same value/,
    ],
    [
      'with the secrets of an installation among its rows',
      () =>
        change(lineOf('{"in":"settings"'), () => '{"in":"settings","row":{"id":"identity","version":1,"value":{}}}'),
      /row\.id: belongs in the first line/,
    ],
    [
      'with an address of its own',
      () => change(lineOf('{"in":"sandbox_tokens"'), (line) => line.replace('@asset', `0x${'1'.repeat(40)}`)),
      /row\.asset: must be @asset/,
    ],
    [
      'with a file that was changed',
      () => change(fileAt(), (line) => line.replace(/"data":"[A-Za-z0-9+]/, '"data":"/')),
      /does not match its hash/,
    ],
    [
      'with a file that is too large',
      () => change(fileAt(), (line) => line.replace(/"size":\d+/, '"size":99999999999')),
      /Line \d+, size/,
    ],
    [
      'with a file that is larger than it says',
      () => change(fileAt(), (line) => line.replace(/"size":\d+/, '"size":1')),
      /larger than its size/,
    ],
    ['with a line that has no end', () => Buffer.alloc(70_000, 'x'), /Line 1: is longer/],
  ])('%s is refused with its line, and changes nothing', async (_, make, message) => {
    const dataDir = freshFolder()
    await expect(imported(make(), { dataDir })).rejects.toThrow(message)
    await expect(readdir(dataDir)).rejects.toThrow(/ENOENT/)
  })

  test('leaves the store that it was to replace as it was', async () => {
    const { dataDir } = await imported(whole)
    const manifest = join(dataDir, STORE_FOLDER, 'MANIFEST.json')
    const before = await readFile(manifest, 'utf8')
    await expect(imported(whole.slice(0, -20), { dataDir, keep: true })).rejects.toThrow(/inside this line/)
    expect(await readFile(manifest, 'utf8')).toBe(before)
    expect(hashOf(await exported(dataDir))).toBe(hashOf(whole))
    expect(await readdir(dataDir)).toEqual([STORE_FOLDER])
  })
})

/** How many random sequences of commerce, each of so many acts. */
const SEQUENCES = 1
const STEPS = 90
const MOVE_WEIGHT = 6

test('at any moment of a random history the state moves whole, with books that agree', async () => {
  let moved = 0
  const move = async ({ market: here }: Scene) => {
    const tarFile = join(home, `random-${moved}.tar`)
    const key = (await readFile(join(here.dir, 'admin.key'), 'utf8')).trim()
    const headers = { Authorization: `Bearer ${key}` }
    const answer = await fetch(`${here.url()}/dashboard/api/admin/backup`, { headers })
    await writeFile(tarFile, Buffer.from(await answer.arrayBuffer()))
    const text = await exported(here.dir, { tarFile })
    const { dataDir, sha256 } = await imported(text)
    expect([sha256, hashOf(await exported(dataDir))]).toEqual([hashOf(text), hashOf(text)])
    await rm(dataDir, { recursive: true })
    await rm(tarFile)
    moved += 1
    return 'moved'
  }
  const more = { move: { weight: MOVE_WEIGHT, run: move } }
  await runCommerce({ sequences: SEQUENCES, steps: STEPS, seed: 5, more })
  expect(moved).toBeGreaterThan(2)
})
