import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'

let shop: RemoteMarket
let seller: Person
let service: string
beforeAll(async () => {
  shop = await openRemoteMarket()
  seller = await registered(shop.market, { type: 'provider', name: 'Ann' })
  const listing = { name: 'Echo', description: 'Echoes.', price: '1.00', fulfillment_type: 'human' }
  service = (await seller.call('POST', '/v1/services', listing)).body.id
})
afterAll(() => shop.market.close())

const admin = (...words: string[]) => shop.json(['admin', 'participants', ...words])
const run = (...words: string[]) => shop.souk(['admin', 'participants', ...words])
const standing = async () => {
  const { participants } = await admin('list', '--type', 'provider')
  return participants.find(({ id }: { id: string }) => id === seller.id)
}

test('somebody is suspended with all that it offers, and comes back with it', async () => {
  const done = await admin('suspend', seller.id, '--reason', 'a report', '--yes')
  expect(done).toMatchObject({ id: seller.id, suspended_at: expect.any(String) })
  expect(await standing()).toMatchObject({ suspended_at: done.suspended_at })
  expect((await shop.json(['services', 'view', service])).status).toBe('inactive')
  expect((await run('list')).out).toContain(done.suspended_at)
  expect(await admin('unsuspend', seller.id, '--reason', 'withdrawn')).toMatchObject({ suspended_at: null })
  expect((await shop.json(['services', 'view', service])).status).toBe('active')
})

test('a tier is set, and people are found by it', async () => {
  const { out } = await run('tier', seller.id, 'email_verified', '--reason', 'wrote back')
  expect(out).toMatch(/Ann.*email_verified.*in good standing/)
  const { participants } = await admin('list', '--tier', 'email_verified')
  expect(participants.map(({ id }: { id: string }) => id)).toContain(seller.id)
})

test('what would be sent is only shown under --dry-run', async () => {
  const shown = await admin('suspend', seller.id, '--reason', 'why', '--dry-run')
  expect(shown).toMatchObject({ dry_run: true, request: { method: 'PUT', body: { suspended: true, reason: 'why' } } })
  expect(await standing()).toMatchObject({ suspended_at: null })
})

test.each<[string, string[], number, string]>([
  ['a suspension that nobody said yes to', ['suspend', 'SELLER', '--reason', 'x'], 2, '--yes'],
  ['one without a reason', ['suspend', 'SELLER', '--yes'], 2, '--reason'],
  ['one of nobody', ['unsuspend', 'p_0000000000000000', '--reason', 'x'], 3, 'participant'],
  ['a tier that there is none of', ['tier', 'SELLER', 'saint', '--reason', 'x'], 2, 'identity_verified'],
])('%s changes nothing', async (...refused) => {
  const [, words, exit, told] = refused
  const { code, out, err } = await run(...words.map((word) => (word === 'SELLER' ? seller.id : word)))
  expect([code, out]).toEqual([exit, ''])
  expect(err).toContain(told)
  expect(await standing()).toMatchObject({ suspended_at: null })
})
