import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runLine } from '../fixtures/kit/command-line.testkit.ts'
import { type Marketplace, openMarketplace } from '../fixtures/market/marketplace.ts'
import { groups } from '../src/cli/run/groups.ts'
import { entries } from './index.ts'

/* Somebody with a home of their own, the address of a marketplace, and no admin key. */

let market: Marketplace
let home: string
beforeAll(async () => {
  market = await openMarketplace()
  home = await mkdtemp(join(tmpdir(), 'souk-second-'))
  await mkdir(join(home, 'tmp'))
  expect((await souk('remote', 'add', 'shop', market.url())).code).toBe(0)
  expect((await souk('remote', 'use', 'shop')).code).toBe(0)
  expect((await souk('wallet', 'new', 'me')).code).toBe(0)
})
afterAll(async () => {
  await market.close()
  await rm(home, { recursive: true, force: true })
})

async function souk(...words: string[]) {
  const env = {
    HOME: home,
    PATH: process.env.PATH ?? '',
    TMPDIR: join(home, 'tmp'),
    SOUK_NO_INPUT: '1',
    XDG_RUNTIME_DIR: '',
  }
  const ran = await runLine({ entries, groups }, [...words, '--json'], { now: () => Date.now(), env })
  return { code: ran.code, err: ran.err, said: ran.code === 0 ? JSON.parse(ran.out) : undefined }
}

test('gets test money and buys, by a remote alone', async () => {
  const funded = await souk('wallet', 'fund')
  expect(funded.said).toMatchObject({ name: 'me', credited: '10.00', balance: '10.00' })
  const slug = 'qr_code'
  const bought = await souk('buy', await market.serviceId(slug), '-i', 'data=hello', '--yes')
  expect([bought.code, bought.err]).toEqual([0, expect.any(String)])
  expect(bought.said).toMatchObject({ status: 'completed' })
})

test('funds an address that is in no wallet file', async () => {
  const address = '0x00000000000000000000000000000000000000Fb'
  const { said } = await souk('wallet', 'fund', address)
  expect(said).toMatchObject({ name: null, credited: '10.00', balance: '10.00' })
  expect(said.wallet.toLowerCase()).toBe(address.toLowerCase())
})

test('is told that choosing the amount takes the admin key', async () => {
  const { code, err } = await souk('wallet', 'fund', '--amount', '50')
  expect(code).not.toBe(0)
  expect(err).toMatch(/admin/)
})
