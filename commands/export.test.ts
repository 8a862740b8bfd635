import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUser, type User } from '../fixtures/kit/user.ts'
import { keepApiKey } from '../src/client/secrets.ts'
import { placesOf } from '../src/client/settings.ts'
import { currentWallet } from '../src/client/wallets.ts'

/* One participant that takes its records with it, from a real, detached daemon that is paused. */

let user: User
let home: string

beforeAll(async () => {
  user = await openUser()
  home = user.home
  for (const line of [
    'up --port 0 --seed house',
    'wallet new main',
    'wallet fund main --amount 50.00',
    'account register --role both --name Mover',
    'admin platform pause --reason moving --yes',
  ]) {
    const { code, err } = await souk(...line.split(' '))
    if (code !== 0) throw new Error(`${line}: ${err}`)
  }
})

afterAll(() => user.close())

const souk = (...words: string[]) => user.souk(...words)

const linesIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('souk export', () => {
  it('saves all records in a file of one’s own and says how many', async () => {
    const file = join(home, 'mine.ndjson')
    const { code, out } = await souk('export', file, '--json')
    expect(code).toBe(0)
    const lines = linesIn(readFileSync(file, 'utf8'))
    expect(JSON.parse(out)).toEqual({ file, records: lines.length - 2, counts: lines.at(-1).record.counts })
    expect(JSON.parse(out).counts).toMatchObject({ participant: 1, payment: 1, balance: 1 })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(home).filter((name) => name.includes('.part'))).toEqual([])
  })

  it('makes the folder of its file', async () => {
    const file = join(home, 'not/yet/mine.ndjson')
    expect((await souk('export', file)).code).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('writes to stdout, some kinds only', async () => {
    const { out } = await souk('export', '-', '--only', 'participant,payment')
    expect(linesIn(out).map(({ kind }) => kind)).toEqual(['export', 'participant', 'payment', 'end'])
  })

  it('lets a filter read it line by line', async () => {
    const { out } = await souk('export', '-', '--only', 'participant', '--ndjson', '--jq', '.record.name')
    expect(out).toContain('"Mover"\n')
  })

  it('replaces nothing without a yes', async () => {
    const file = join(home, 'there.ndjson')
    writeFileSync(file, 'mine')
    expect((await souk('export', file, '--no-input')).code).toBe(2)
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect((await souk('export', file, '--yes')).code).toBe(0)
  })

  it('names an unknown kind', async () => {
    const { code, err } = await souk('export', '-', '--only', 'secrets')
    expect([code, err]).toEqual([2, expect.stringContaining('only')])
  })

  it('keeps nothing of an export that was cut', async () => {
    const server = createServer((_request, response) => {
      response.end('{"kind":"export","record":{}}\n{"kind":"job","record":{}}\n')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const places = placesOf({ HOME: home })
    const wallet = await currentWallet(places)
    if (!wallet) throw new Error('no wallet')
    keepApiKey(places, url, { wallet: wallet.address, key: `sk_${'0'.repeat(40)}` })
    try {
      const file = join(home, 'cut.ndjson')
      const { code, err } = await souk('export', file, '--base-url', url)
      expect([code, err]).toEqual([1, expect.stringContaining('incomplete after 2 lines')])
      expect(readdirSync(home).filter((name) => name.startsWith('cut'))).toEqual([])
    } finally {
      server.close()
    }
  })
})
