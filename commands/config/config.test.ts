import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'

/* Settings that are kept, and what wins over them. */

let shop: RemoteMarket
beforeAll(async () => {
  shop = await openRemoteMarket()
  await shop.json(['wallet', 'new', 'ann'])
  await shop.json(['wallet', 'fund', 'ann'])
})
afterAll(() => shop.market.close())
beforeEach(async () => {
  for (const key of ['pay', 'max-price', 'no-input']) await shop.json(['config', 'unset', key])
})

const set = (key: string, value: string) => shop.json(['config', 'set', key, value])
const discover = (...words: string[]) => shop.souk(['services', 'discover', ...words])

test('what is kept holds for every command; a flag and the environment win over it', async () => {
  expect((await discover()).code).toBe(0)
  expect(await set('pay', 'none')).toMatchObject({ key: 'pay', value: 'none', origin: 'settings' })
  expect((await discover()).code).toBe(5)
  expect((await discover('--pay', 'x402')).code).toBe(0)
  expect((await shop.souk(['services', 'discover'], { env: { SOUK_PAY: 'x402' } })).code).toBe(0)
  await set('max-price', '0.0001')
  expect((await discover('--pay', 'x402')).code).toBe(5)
})

test('the targets of alarms are shown without their passwords and tokens', async () => {
  const target = 'smtp://souk:opensesame@mail.example.org?to=ops@example.org,webhook:https://hooks.example.org/TOKEN'
  await set('notify', target)
  const shown = 'smtp:ops@example.org, webhook:hooks.example.org'
  expect(await shop.json(['config', 'get', 'notify'])).toMatchObject({ value: shown, origin: 'settings' })
  expect((await shop.souk(['config', 'list'])).out).not.toMatch(/opensesame|TOKEN/)
  const SOUK_NOTIFY = 'webhook:https://hooks.example.org/OTHER'
  expect((await shop.souk(['config', 'list', '--json'], { env: { SOUK_NOTIFY } })).out).not.toMatch(
    /opensesame|TOKEN|OTHER/,
  )
  await shop.json(['config', 'unset', 'notify'])
})

test('the list says where each comes from; what else is kept stays', async () => {
  await set('max-price', '5.00')
  const told = await shop.json(['config', 'list'], { env: { SOUK_PAY: 'balance' } })
  const from = Object.fromEntries(
    told.settings.map(({ key, value, origin }: Record<string, string>) => [key, `${value} ${origin}`]),
  )
  expect(from).toMatchObject({
    remote: 'shop environment',
    wallet: 'ann settings',
    pay: 'balance environment',
    'max-price': '5.00 settings',
    timeout: 'null default',
  })
  expect((await shop.souk(['config', 'get', 'max-price'])).out).toContain('5.00')
  expect((await shop.json(['config', 'path'])).config).toContain(shop.home)
})

describe('what is refused', () => {
  test.each<[string, string[], RegExp]>([
    ['an unknown key', ['set', 'max-prise', '1'], /did you mean max-price/],
    ['a value that the flag would not take', ['set', 'max-price', 'lots'], /--max-price/],
    ['a choice that there is not', ['set', 'pay', 'cash'], /auto, balance, x402, none/],
    ['a switch that is neither on nor off', ['set', 'no-input', 'maybe'], /true, false/],
    ['a remote', ['set', 'remote', 'shop'], /souk remote use/],
  ])('%s', async (_, words, message) => {
    const { code, out, err } = await shop.souk(['config', ...words])
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)])
  })

  test('a dry run keeps nothing', async () => {
    expect((await shop.souk(['config', 'set', 'pay', 'none', '--dry-run'])).code).toBe(0)
    expect((await shop.json(['config', 'get', 'pay'])).value).toBe(null)
  })
})
