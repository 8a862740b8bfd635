import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUser, type User } from '../fixtures/kit/user.ts'
import { RECOVERY_METRIC } from '../src/model/payment.ts'

/* What is wrong on this machine is found, named with the command that mends it, and mended where nothing is lost. */

let user: User
let dataDir: string
beforeAll(async () => {
  user = await openUser({ SOUK_NO_INPUT: '1' })
  const nobody = { url: 'http://127.0.0.1:1' }
  const engines = join(user.home, 'engines.json')
  writeFileSync(engines, JSON.stringify({ advisories: nobody, grants: nobody, rdap: nobody }))
  const { url: _url, ...up } = await user.json('up', '--port', '0', '--seed', 'house', '--engines', engines)
  dataDir = up.data_dir
  await user.register('main', '20')
})
afterAll(() => user?.close())

type Check = { id: string; status: string; detail: string; fix: string | null }
const checks = async (...words: string[]): Promise<Check[]> => (await user.json('doctor', ...words)).checks
const one = async (id: string, ...words: string[]) => (await checks('--only', id, ...words))[0]
const blobs = () => join(dataDir, 'store', 'blobs')

test('what recovers signatures is told by the doctor and among the figures', async () => {
  expect((await one('signatures'))?.detail).toMatch(/^signers are recovered by (native code|WebAssembly)/)
  const { samples } = await user.json('admin', 'metrics', '--match', 'souk_signature')
  expect(samples).toEqual([
    { name: RECOVERY_METRIC, labels: expect.stringMatching(/^engine="(native|wasm)"$/), value: '1' },
  ])
})

test('of a daemon that runs, machine, time, books, engines and what waits are looked at', async () => {
  const all = await checks()
  for (const id of [
    'terminal',
    'disk',
    'lock',
    'port',
    'clock',
    'books',
    'engines',
    'webhooks',
    'sanctions',
    'signatures',
  ]) {
    expect(all.map((check) => check.id)).toContain(id)
  }
  expect(all.filter(({ status }) => status === 'problem')).toEqual([])
  expect((await one('lock'))?.detail).toMatch(/^pid \d+, since \d{4}-/)
  expect((await one('engines'))?.detail).toMatch(/are available$|^missing or failing: /)
})

test('each engine has a line, and those outside are asked where that is wanted, by a daemon that runs', async () => {
  const lines = await checks('--only', 'engines')
  const coins = lines.find(({ id }) => id === 'engines/coins')
  expect(coins).toMatchObject({ status: 'ok', detail: expect.stringMatching(/^unconfigured: .*coins\.url/) })
  const osv = (of: readonly Check[]) => of.find(({ id }) => id === 'engines/advisories')
  expect(osv(lines)).toMatchObject({ status: 'ok', detail: expect.not.stringContaining('does not answer') })
  const online = osv(await checks('--only', 'engines', '--online'))
  expect(online).toMatchObject({ status: 'warning', detail: expect.stringMatching(/OSV does not answer\.$/) })
})

test('one check is chosen by its name, and a misspelt name is told from those that there are', async () => {
  expect((await checks('--only', 'clock', '--only', 'disk')).map(({ id }) => id)).toEqual(['disk', 'clock'])
  const { code, err } = await user.souk('doctor', '--only', 'clokc')
  expect([code, err]).toEqual([2, expect.stringContaining('did you mean clock?')])
})

test('the exit status says whether there is a problem, where that is asked for', async () => {
  const wallets = join(user.home, '.config', 'souk', 'wallets')
  chmodSync(wallets, 0o755)
  expect((await user.souk('doctor')).code).toBe(0)
  expect((await user.souk('doctor', '--exit-status')).code).toBe(11)
  expect((await user.souk('doctor', '--exit-status', '--only', 'node')).code).toBe(0)
  const { checks: after, fixed } = await user.json('doctor', '--fix', '--only', 'wallets')
  expect([after[0].status, fixed]).toEqual(['ok', [{ id: 'wallets', did: expect.stringContaining('only by you') }]])
  expect((await user.souk('doctor', '--exit-status')).code).toBe(0)
})

test('a daemon that was killed leaves a registration, which --fix removes', async () => {
  const { pid } = await user.json('status')
  process.kill(pid, 'SIGKILL')
  await expect.poll(async () => (await one('lock'))?.status).toBe('problem')
  expect((await one('lock'))?.fix).toBe('souk doctor --fix --only lock')
  expect((await one('lock', '--fix'))?.detail).toBe('no daemon uses the data')
  expect((await user.json('status')).state).toBe('stopped')
  const { code, err } = await user.souk('doctor', '--online')
  expect([code, err]).toEqual([10, expect.stringContaining('souk up')])
})

test('files that no record names, and records whose file is gone, are found in the data of a stopped daemon', async () => {
  await user.json('up', '--port', '0')
  const file = join(user.home, 'book.txt')
  writeFileSync(file, 'a whole book')
  await user.json('products', 'create', '--name', 'Book', '--price', '5.00', '--upload', file)
  await user.json('down')
  expect(await one('files')).toMatchObject({ status: 'ok' })
  const stray = Buffer.from('nobody named me')
  const name = createHash('sha256').update(stray).digest('hex')
  writeFileSync(join(blobs(), name), stray)
  expect(await one('files')).toMatchObject({ status: 'warning', detail: '1 unreferenced files' })
  expect(await one('files', '--fix')).toMatchObject({ status: 'ok' })
  expect(existsSync(join(blobs(), name))).toBe(false)
  const [book] = readdirSync(blobs()).filter((one) => /^[0-9a-f]{64}$/.test(one))
  rmSync(join(blobs(), String(book)))
  expect(await one('files')).toMatchObject({ status: 'problem', detail: expect.stringContaining(String(book)) })
})
