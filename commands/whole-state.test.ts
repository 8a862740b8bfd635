import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { finderIn } from '../fixtures/kit/layers.ts'
import { openUserAtMarket, type User } from '../fixtures/kit/user.ts'

// @slow whole stores are written and replaced

/* A marketplace is taken elsewhere as text, at the command line and by real daemons. */

let user: User
let file: string
beforeAll(async () => {
  user = await openUserAtMarket()
  file = join(user.home, 'market.ndjson')
  await user.register('ann', '20.00')
  await user.json('account', 'edit', '--name', '=1+1', '--as', 'ann')
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
      csv: null,
      anonymised: false,
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
    [['--anonymise', 'mine.ndjson'], /--all/],
    [['--all'], /--csv DIR/],
    [['--all', 'x.ndjson', '--csv', 'x'], /one of them/],
    [['--all', '--only', 'job', 'x.ndjson'], /--only/],
    [['--all', '-', '--jq', '.in'], /behind a pipe/],
  ])('says what is wrong with %j', async (words, message) => {
    const { code, out, err } = await user.souk('export', ...words)
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)])
  })

  test('without people is a marketplace of its own, in which nobody of the old one is found', async () => {
    const copy = join(user.home, 'nobody.ndjson')
    expect(await user.json('export', '--all', '--anonymise', copy)).toMatchObject({ anonymised: true })
    const wallet = await user.json('wallet', 'show', 'ann')
    const { participant_id: id } = await user.json('account', 'show', '--as', 'ann')
    const folder = join(user.home, '.config/souk')
    const kept = [
      readFileSync(join(folder, 'secrets.json'), 'utf8'),
      readFileSync(join(folder, 'wallets/ann.json'), 'utf8'),
    ]
    const keys = kept.join().match(/\bsk_[0-9a-f]{40}|\b0x[0-9a-f]{64}|\bwhsec_[\w+/=]+/g) ?? []
    const secrets = [wallet.address, id, ...keys]
    expect(secrets.length).toBeGreaterThan(3)
    expect(secrets.filter(finderIn(readFileSync(file, 'utf8')))).toEqual(expect.arrayContaining([wallet.address, id]))
    expect(secrets.filter(finderIn(readFileSync(copy, 'utf8')))).toEqual([])
    await user.json('import', copy, '--instance', 'nobody')
    await user.json('up', '--port', '0', '--instance', 'nobody')
    expect((await user.souk('money', 'audit', '--exit-status', '--instance', 'nobody')).code).toBe(0)
  })

  test('makes tables whose cells no spreadsheet runs', async () => {
    const tables = join(user.home, 'tables')
    const { records } = await user.json('export', '--all', '--csv', tables)
    expect(records).toBeGreaterThan(10)
    const people = readFileSync(join(tables, 'participants.csv'), 'utf8')
    expect(people.split('\r\n')[0]).toContain('"id","wallet","name"')
    expect(people).toContain(`,"'=1+1",`)
    expect((await user.souk('export', '--all', '--csv', tables)).code).toBe(6)
    const own = join(user.home, 'own')
    await user.json('export', '--csv', own, '--as', 'ann')
    expect(readFileSync(join(own, 'participant.csv'), 'utf8')).toContain(`"'=1+1"`)
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
