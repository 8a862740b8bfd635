import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyMessage } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'

// @story one home, its remote and its wallet

/* What stands between a slip of the hand and an instance, a key, or money. */

let shop: RemoteMarket
let ann: string
beforeAll(async () => {
  shop = await openRemoteMarket()
  ann = (await shop.json(['wallet', 'new', 'ann'])).address
  await shop.json(['wallet', 'fund', 'ann'])
  await shop.json(['account', 'register', '--as', 'ann'])
})
afterAll(() => shop.market.close())

describe('a protected remote', () => {
  beforeEach(() => shop.json(['remote', 'protect', 'shop']))

  test('is read as ever, and changed only where its name is given', async () => {
    expect((await shop.json(['services', 'list'])).total).toBeGreaterThan(0)
    expect((await shop.json(['trust', ann, `0x${'0'.repeat(40)}`])).total).toBe(2)
    const words = ['stats', 'event', 'subject_view']
    const silent = await shop.souk(words)
    expect([silent.code, silent.out, silent.err]).toEqual([2, '', expect.stringContaining('--confirm shop')])
    expect((await shop.souk([...words, '--yes'])).code).toBe(2)
    expect((await shop.souk([...words, '--confirm', 'other'])).code).toBe(2)
    expect((await shop.souk([...words, '--dry-run'])).code).toBe(0)
    expect((await shop.souk([...words, '--confirm', 'shop'])).code).toBe(0)
    expect((await shop.souk(['admin', 'platform', 'pause', '--confirm', 'shop', '--reason', 'x'])).code).toBe(0)
    expect((await shop.souk(['admin', 'platform', 'unpause', '--confirm', 'shop'])).code).toBe(0)
  })

  test('says so, and gives it up only by its name', async () => {
    const { remotes } = await shop.json(['remote', 'list'])
    expect(remotes.find(({ name }: { name: string }) => name === 'shop').protected).toBe(true)
    expect((await shop.souk(['remote', 'protect', 'shop', '--off'])).code).toBe(2)
    const off = ['remote', 'protect', 'shop', '--off', '--confirm', 'shop']
    expect(await shop.json(off)).toEqual({ name: 'shop', protected: false, changed: true })
    expect(await shop.json(off)).toEqual({ name: 'shop', protected: false, changed: false })
    expect((await shop.souk(['stats', 'event', 'subject_view'])).code).toBe(0)
    expect((await shop.souk(['remote', 'protect', 'nowhere'])).code).toBe(3)
  })
})

describe('a check', () => {
  beforeAll(() => shop.json(['remote', 'protect', 'shop', '--off', '--confirm', 'shop']))

  test('takes the credentials that are kept, and misses those that are not', async () => {
    const { checks, problems } = await shop.json(['remote', 'check', 'shop', '--as', 'ann', '--exit-status'])
    expect(checks.map(({ id, status }: { id: string; status: string }) => `${id} ${status}`)).toEqual([
      'answers ok',
      'token ok',
      'admin key ok',
      'api key ok',
    ])
    expect(problems).toBe(0)
  })

  test('tells a key that is not taken any more, with exit 11 where that is asked for', async () => {
    const wrong = `adm_${'0'.repeat(40)}`
    const looked = async () => (await shop.json(['doctor', '--only', 'remotes'])).checks[0]
    expect(await looked()).toMatchObject({ status: 'ok', detail: '1 answer' })
    await shop.souk(['remote', 'add', 'shop', shop.market.url(), '--admin-key-stdin'], { stdin: wrong })
    const { code, out } = await shop.souk(['remote', 'check', 'shop', '--exit-status', '--json'])
    expect([code, JSON.parse(out).problems]).toEqual([11, 1])
    expect(await looked()).toMatchObject({
      status: 'warning',
      detail: 'shop rejects the admin key',
      fix: 'souk remote check shop',
    })
    expect((await shop.souk(['remote', 'check', 'local'])).code).toBe(10)
    const right = readFileSync(join(shop.market.dir, 'admin.key'), 'utf8')
    await shop.souk(['remote', 'add', 'shop', shop.market.url(), '--admin-key-stdin'], { stdin: right })
  })
})

describe('a signature', () => {
  const TO = '0x00000000000000000000000000000000000000a1'

  test('of a message is that of the wallet', async () => {
    const { signature, message } = await shop.json(['wallet', 'sign', 'message', 'I am here'])
    expect(await verifyMessage({ address: ann as `0x${string}`, message, signature })).toBe(true)
    const { out } = await shop.souk(['wallet', 'sign', 'message', '-'], { stdin: 'I am here' })
    expect(out.trim()).toBe(signature)
  })

  test('of a payment says whom, how much and in which token', async () => {
    const signed = await shop.json(['wallet', 'sign', 'x402', '--to', TO, '--amount', '0.50'])
    const [value = ''] = Object.values<string>(signed.headers)
    const { payload } = JSON.parse(Buffer.from(value, 'base64').toString('utf8'))
    expect(payload.authorization).toMatchObject({ value: '500000', from: ann })
    expect(payload.authorization.to.toLowerCase()).toBe(TO)
    expect(signed.asset.toLowerCase()).toBe((await shop.json(['health'])).chain.asset.toLowerCase())
  })

  test.each<[string, string[], number]>([
    ['above the limit', ['x402', '--to', TO, '--amount', '1.01'], 2],
    ['to nobody', ['x402', '--amount', '0.50'], 2],
    ['to what is no address', ['x402', '--to', 'ann', '--amount', '0.50'], 2],
    ['of nothing', ['x402', '--to', TO, '--amount', '0'], 2],
    ['of no message', ['message'], 2],
    ['of a message that is paid', ['message', 'x', '--to', TO], 2],
    ['by nobody', ['message', 'x', '--as', 'nobody'], 3],
  ])('%s is refused', async (_, words, code) => {
    const ran = await shop.souk(['wallet', 'sign', ...words])
    expect([ran.code, ran.out]).toEqual([code, ''])
  })
})

test('a wallet is removed only after a yes', async () => {
  await shop.json(['wallet', 'new', 'gone'])
  expect((await shop.souk(['wallet', 'remove', 'gone'])).code).toBe(2)
  expect((await shop.souk(['wallet', 'remove', 'gone', '--dry-run', '--yes'])).code).toBe(0)
  expect(await shop.json(['wallet', 'remove', 'gone', '--yes'])).toMatchObject({ name: 'gone', was_active: false })
  expect((await shop.souk(['wallet', 'remove', 'gone', '--yes'])).code).toBe(3)
  expect((await shop.json(['wallet', 'list'])).total).toBe(1)
})
