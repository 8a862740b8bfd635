import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../fixtures/kit/remote-market.ts'
import { exits } from '../src/cli/exit.ts'
import { keepApiKey } from '../src/client/secrets.ts'

// @story one person in one home

/* What a person ran into and could not get out of by what was printed. */

let shop: RemoteMarket
let listing: string
beforeAll(async () => {
  shop = await openRemoteMarket()
  for (const name of ['seller', 'buyer', 'stranger']) {
    await shop.json(['wallet', 'new', name])
    await shop.json(['wallet', 'fund', name, '--amount', '20'])
  }
  await shop.json(['account', 'register', '--role', 'provider', '--as', 'seller'])
  await shop.json(['account', 'register', '--as', 'buyer'])
  const fields = { name: 'By hand', description: 'Made by a person', price: '0.50', fulfillment_type: 'human' }
  const set = Object.entries(fields).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  listing = (await shop.json(['services', 'create', ...set, '--as', 'seller'])).id
})
afterAll(() => shop.market.close())

describe('waiting for a job that goes on', () => {
  test.each([
    ['jobs', 'watch'],
    ['jobs', 'view', '--wait'],
  ])('%s %s ends at --timeout, with what to type', async (...words) => {
    const { job_id } = await shop.json(['buy', listing, '--as', 'buyer'])
    const { code, out, err } = await shop.souk([...words, job_id, '--as', 'buyer', '--timeout', '1s', '--json'])
    expect([code, JSON.parse(out).status]).toEqual([exits.pending, 'dispatched'])
    expect(err).toContain(`souk jobs watch ${job_id} --remote shop --as buyer`)
  })

  test('leaves a purchase without a result, and not with an empty one', async () => {
    const { code, out } = await shop.souk(['buy', listing, '--as', 'buyer', '--wait', '--timeout', '1s', '--json'])
    expect([code, JSON.parse(out).result]).toEqual([exits.pending, null])
  })
})

describe('a key that the instance does not know any more', () => {
  const unknown = `sk_${'0'.repeat(40)}`
  beforeAll(async () => {
    const { address } = await shop.json(['wallet', 'show', 'stranger'])
    keepApiKey({ config: join(shop.home, '.config', 'souk') }, shop.market.url(), { wallet: address, key: unknown })
  })

  test('is told, with the way out', async () => {
    const { code, err } = await shop.souk(['balance', '--as', 'stranger'])
    expect(code).toBe(exits.auth)
    expect(err).toContain('rejects the saved API key')
    expect(err).toContain('→ souk account register --remote shop --as stranger')
    const forced = await shop.souk(['buy', listing, '--as', 'stranger', '--pay', 'balance'])
    expect([forced.code, forced.err]).toEqual([exits.payment, expect.stringContaining('souk account register')])
  })

  test('is no balance: the wallet pays by signature, and a registration takes its place', async () => {
    expect((await shop.json(['buy', listing, '--as', 'stranger'])).payment.method).toBe('x402')
    const { participant_id } = await shop.json(['account', 'register', '--as', 'stranger'])
    expect(await shop.json(['balance', '--as', 'stranger'])).toMatchObject({ participant_id })
  })
})

test('a charge of the balance that was refused is told as refused, not as one that may still be taken', async () => {
  await shop.json(['balance', 'deposit', '1', '--as', 'buyer'])
  const { job_id } = await shop.json(['buy', listing, '--as', 'buyer'])
  const { code, err } = await shop.souk(['jobs', 'verify', job_id, '--pay', 'balance', '--as', 'buyer'])
  expect(code).toBe(exits.conflict)
  expect(err).toContain('(authorised, then refused)')
  expect(err).not.toContain('may still be charged')
})

test('who pauses the platform is told first how many doors close, and why', async () => {
  const asked = { env: { SOUK_NO_INPUT: '' }, columns: 200, answer: () => 'another' }
  const { code, err } = await shop.souk(['admin', 'platform', 'pause', '--reason', 'chain is down'], asked)
  expect(code).toBe(exits.cancelled)
  const { endpoints } = await shop.json(['health'])
  const paid = endpoints.filter(({ price, status }: Record<string, string>) => price !== 'free' && status === 'live')
  expect(err).toMatch(/stops all paid activity of shop \(\d+ endpoints; reason: chain is down\)/)
  expect(Number(/\((\d+) endpoints/.exec(err)?.[1])).toBeLessThanOrEqual(paid.length)
  expect(await shop.json(['admin', 'platform', 'status'])).toMatchObject({ paused: false })
})
