import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findDaemon, findLiveDaemon, register, unregister } from './discover.ts'
import { writeJson } from './files.ts'
import { originOf } from './origin.ts'
import { isSameProcess, processStartedMs } from './process.ts'
import { addRemote, getRemote, listRemotes, removeRemote } from './remotes.ts'
import { adminKeyOf, apiKeyOf, dropSecrets, jobTokenOf, keepAdminKey, keepApiKey, keepJobToken } from './secrets.ts'
import { changeSettings, placesOf, readSettings, shortPath } from './settings.ts'

let dir: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'souk-places-'))
})
afterEach(() => rm(dir, { recursive: true }))

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('folders', () => {
  const home = { HOME: '/home/ann' }
  it.each([
    [home, {}, { config: '/home/ann/.config/souk', data: '/home/ann/.local/share/souk/default' }],
    [
      home,
      { instance: 'two' },
      { state: '/home/ann/.local/state/souk/two', runtime: '/home/ann/.local/state/souk/two/run' },
    ],
    [{ ...home, SOUK_INSTANCE: 'three' }, {}, { data: '/home/ann/.local/share/souk/three' }],
    [
      { ...home, XDG_DATA_HOME: '/d', XDG_RUNTIME_DIR: '/run/9' },
      {},
      { data: '/d/souk/default', runtime: '/run/9/souk/default' },
    ],
    [
      { ...home, SOUK_DATA_DIR: '/e' },
      {},
      { data: '/e/default/data', state: '/e/default/state', runtime: '/e/default/run' },
    ],
    [
      { ...home, SOUK_DATA_DIR: '/e', SOUK_CONFIG_DIR: '/c' },
      { dataDir: '/f' },
      { data: '/f/default/data', config: '/c' },
    ],
  ])('of %j with %j', (env, choices, expected) => {
    expect(placesOf(env, choices)).toMatchObject(expected)
  })

  it('are shown short', () => {
    expect(shortPath('/home/ann/x', home)).toBe('~/x')
    expect(shortPath('/home/annette/x', home)).toBe('/home/annette/x')
  })
})

describe('private files', () => {
  it('are replaced whole, leave no draft and are only for their owner', () => {
    const file = join(dir, 'deep', 'a.json')
    writeJson(file, { a: 1 })
    writeJson(file, { a: 2 })
    expect(readdirSync(join(dir, 'deep'))).toEqual(['a.json'])
    expect([mode(file), mode(join(dir, 'deep'))]).toEqual(['600', '700'])
  })
})

describe('remotes', () => {
  const at = () => ({ config: dir })
  it('are added, listed, replaced at the same address, removed', () => {
    addRemote(at(), { name: 'shop', url: 'https://market.example/', network: 'sandbox' })
    addRemote(at(), { name: 'shop', url: 'https://market.example', network: 'base', protected: true })
    expect(listRemotes(at())).toEqual([
      { name: 'shop', url: 'https://market.example', network: 'base', protected: true },
    ])
    expect(() => addRemote(at(), { name: 'shop', url: 'https://other.example', network: 'base' })).toThrow(
      'already exists with address',
    )
    removeRemote(at(), 'shop')
    expect(() => getRemote(at(), 'shop')).toThrow('there are: local')
  })

  it.each(['ftp://x', 'not an address', 'https://user:pass@x.example', 'http://127.0.0.1:/', 'javascript:alert(1)'])(
    'refuse %s',
    (url) => {
      expect(() => originOf(url)).toThrow('url')
    },
  )

  it('may not be called local', () => {
    expect(() => addRemote(at(), { name: 'local', url: 'https://x.example', network: 'base' })).toThrow('name')
  })
})

describe('secrets and settings', () => {
  const at = () => ({ config: dir })
  it('are kept apart by instance, in a private file, and dropped with the remote', () => {
    keepAdminKey(at(), 'shop', 'adm_1')
    keepApiKey(at(), 'https://a.example', { wallet: '0xAB', key: 'sk_1' })
    keepJobToken(at(), 'https://a.example', { job: 'job_1', thread: 'thr_1', token: 'jt_1' })
    expect(apiKeyOf(at(), 'https://a.example', '0xab')).toBe('sk_1')
    expect(apiKeyOf(at(), 'https://b.example', '0xab')).toBeUndefined()
    expect(['job_1', 'thr_1', 'job_2'].map((id) => jobTokenOf(at(), 'https://a.example', id))).toEqual([
      'jt_1',
      'jt_1',
      undefined,
    ])
    expect(mode(join(dir, 'secrets.json'))).toBe('600')
    dropSecrets(at(), 'shop')
    expect(adminKeyOf(at(), 'shop')).toBeUndefined()
  })

  it('are changed member by member', () => {
    changeSettings(at(), { remote: 'shop' })
    changeSettings(at(), { wallet: 'main' })
    expect(changeSettings(at(), { remote: undefined })).toEqual({ remote: undefined, wallet: 'main' })
    expect(readSettings(at())).toEqual({ wallet: 'main' })
  })
})

describe('the registration', () => {
  const at = () => ({ runtime: dir })
  const own = () => ({
    state: 'serving' as const,
    pid: process.pid,
    started_at: new Date(processStartedMs(process.pid) ?? 0).toISOString(),
    url: 'http://127.0.0.1:1',
    instance_id: 'abc',
    version: '0.1.0',
    data_dir: '/data',
  })

  it('is believed only for the very process', async () => {
    expect(await findDaemon(at())).toEqual({ state: 'absent' })
    register(at(), own())
    expect(isSameProcess(own())).toBe(true)
    expect(await findLiveDaemon(at())).toMatchObject({ state: 'running' })
    expect(await findDaemon(at())).toMatchObject({ state: 'unresponsive' })
    register(at(), { ...own(), started_at: '2001-01-01T00:00:00.000Z' })
    expect(await findLiveDaemon(at())).toMatchObject({ state: 'stale' })
  })

  it('is removed by its own process only', async () => {
    register(at(), own())
    unregister(at(), { pid: 1, started_at: own().started_at })
    expect((await findLiveDaemon(at())).state).toBe('running')
    unregister(at(), own())
    expect((await findLiveDaemon(at())).state).toBe('absent')
  })

  it.each([
    '',
    '{}',
    '[]',
    '{"pid":"1"}',
    '{"pid":0,"started_at":"","url":"","instance_id":"","version":"","data_dir":""}',
  ])('that reads %j is damaged, not trusted', async (text) => {
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, 'daemon.json'), text)
    await expect(findDaemon(at())).rejects.toThrow('is damaged')
  })
})
