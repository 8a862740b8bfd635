import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'
import { attemptOf } from '../../fixtures/market/traces.ts'

/* Attempts to buy, recorded at the command line by key and by signature. */

let shop: RemoteMarket
/** Has a key here. */
let ann: string
/** Has none. */
let bob: string

beforeAll(async () => {
  shop = await openRemoteMarket()
  ann = (await shop.json(['wallet', 'new', 'ann'])).address
  bob = (await shop.json(['wallet', 'new', 'bob'])).address
  await shop.json(['wallet', 'fund', 'ann'])
  await shop.json(['account', 'register', '--as', 'ann'])
})
afterAll(() => shop.market.close())

const record = (event: unknown, ...words: string[]) =>
  shop.souk(['trace', 'record', '-f', '-', '--json', ...words], { stdin: JSON.stringify(event) })

test('a key records whatever it is told, from a file too, and the link is shown once', async () => {
  const file = join(shop.home, 'attempt.json')
  writeFileSync(file, JSON.stringify({ event: attemptOf(bob, 'filed') }))
  const first = await shop.json(['trace', 'record', '-f', file, '--as', 'ann'])
  expect(first.link).toContain(`${shop.market.url()}/dashboard/traces/`)
  expect((await fetch(first.link)).status).toBe(200)
  expect(await shop.json(['trace', 'record', '-f', file, '--as', 'ann'])).toEqual({
    trace_id: first.trace_id,
    link: null,
    link_expires_at: null,
  })
})

test('a wallet that is not registered signs for what it was to pay itself', async () => {
  const { code, out } = await record(attemptOf(bob.toLowerCase(), 'own'), '--as', 'bob')
  expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ trace_id: expect.stringMatching(/^trc_/) })])
})

test('--sign signs where there is a key', async () => {
  expect((await record(attemptOf(ann, 'signed'), '--as', 'ann', '--sign')).code).toBe(0)
})

describe('what is refused', () => {
  type Refused = { event: () => unknown; as: string; code: number; message: RegExp }
  test.each<[string, Refused]>([
    ['a signature of another wallet', { event: () => attemptOf(ann), as: 'bob', code: 4, message: /payer/ }],
    ['no event', { event: () => ({ id: 'x' }), as: 'ann', code: 2, message: /intent/ }],
    ['a list', { event: () => [], as: 'ann', code: 2, message: /the event as one YAML or JSON object/ }],
    [
      'an outcome that there is not',
      { event: () => ({ ...attemptOf(ann), outcome: 'won' }), as: 'ann', code: 2, message: /outcome/ },
    ],
  ])('%s', async (_, { event, as, code, message }) => {
    const ran = await record(event(), '--as', as)
    expect([ran.code, ran.out]).toEqual([code, ''])
    expect(ran.err).toMatch(message)
  })

  test('another event of the same id', async () => {
    expect((await record(attemptOf(bob, 'twice'), '--as', 'ann')).code).toBe(0)
    const { code, out, err } = await record({ ...attemptOf(bob, 'twice'), source: 'mcp' }, '--as', 'ann')
    expect([code, out]).toEqual([6, ''])
    expect(err).toMatch(/other content/)
  })

  test('without any wallet, and nothing is sent by a dry run', async () => {
    const apart = { env: { SOUK_CONFIG_DIR: join(shop.home, 'none') }, stdin: JSON.stringify(attemptOf(ann)) }
    const { code, err } = await shop.souk(['trace', 'record', '-f', '-', '--base-url', shop.market.url()], { ...apart })
    expect([code, err]).toEqual([4, expect.stringContaining('souk wallet new')])
    expect((await record(attemptOf(ann, 'dry'), '--as', 'ann', '--dry-run')).out).toContain('"dry_run":true')
    expect((await record({ ...attemptOf(ann, 'dry'), source: 'mcp' }, '--as', 'ann')).code).toBe(0)
  })
})
