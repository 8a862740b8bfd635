import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addRemote, getRemote, listRemotes } from './remotes.ts'
import { adminKeyOf, apiKeyOf, keepAdminKey, tokensAt } from './secrets.ts'

/* What is kept of other instances is read as it was written, or not at all. */

let places: { config: string }
beforeEach(async () => {
  places = { config: await mkdtemp(join(tmpdir(), 'souk-remotes-')) }
})
afterEach(() => rm(places.config, { recursive: true }))

const ASSET = `0x${'aB'.repeat(20)}`
const plain = { url: 'https://market.test', network: 'devnet' } as const
const write = (file: string, content: unknown) => writeFileSync(join(places.config, file), JSON.stringify(content))

describe('an instance that was added', () => {
  it('comes back with the tokens that may be signed for in lower case', () => {
    write('remotes.json', { there: { ...plain, assets: [ASSET], protected: true } })
    expect(listRemotes(places)).toEqual([{ name: 'there', ...plain, assets: [ASSET.toLowerCase()], protected: true }])
  })

  it.each([
    ['there.url', { ...plain, url: undefined }],
    ['there.network', { ...plain, network: 'mainnet' }],
    ['there.assets.0', { ...plain, assets: ['0x12'] }],
    ['there.protected', { ...plain, protected: 'yes' }],
  ])('is refused with %s named where its file is damaged', (named, there) => {
    write('remotes.json', { there })
    expect(() => getRemote(places, 'there')).toThrow(`remotes.json is damaged: ${named} `)
    expect(() => addRemote(places, { name: 'other', ...plain })).toThrow('is damaged')
  })

  it('is not found under a name that every object has', () => {
    expect(() => getRemote(places, 'constructor')).toThrow('Remote "constructor" is not known')
  })
})

describe('credentials', () => {
  it('are kept beside what a file of another version holds', () => {
    write('secrets.json', { api_keys: { 'here 0xa': 'key' } })
    keepAdminKey(places, 'there', 'admin')
    expect([adminKeyOf(places, 'there'), apiKeyOf(places, 'here', '0xA'), tokensAt(places, 'here')]).toEqual([
      'admin',
      'key',
      [],
    ])
  })

  it.each([{ admin_keys: { there: 1 } }, { api_keys: [] }, { listen_secret: null }])(
    'are not guessed out of %j',
    (kept) => {
      write('secrets.json', kept)
      expect(() => adminKeyOf(places, 'there')).toThrow('secrets.json is damaged')
    },
  )
})
