import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'

// @story one person from a verification to an identity

/* Verification of who stands behind a participant, at the command line. */

let shop: RemoteMarket
beforeAll(async () => {
  shop = await openRemoteMarket()
  for (const name of ['ann', 'bob']) {
    await shop.json(['wallet', 'new', name])
    await shop.json(['wallet', 'fund', name])
    await shop.json(['account', 'register', '--role', 'provider', '--as', name])
  }
})
afterAll(() => shop.market.close())

const verify = (...words: string[]) => shop.souk(['verify', ...words])
const told = (...words: string[]) => shop.json(['verify', ...words])
const consent = (link: string) => told('consent', link, '--operator-name', 'Ann Smith', '--yes')

test('from start to an approved tier', async () => {
  const { attempt_id, consent_url } = await told('start', '--as', 'ann')
  expect((await verify('start', '--as', 'ann')).code).toBe(6)
  expect((await verify('status', '--as', 'ann')).out).toContain('pending_consent')
  expect((await verify('approve', attempt_id, '--reason', 'x')).code).toBe(6)
  expect(await consent(consent_url)).toMatchObject({ attempt_id, status: 'vendor_pending' })
  expect((await verify('status', '--as', 'ann')).out).toContain('Ann Smith')
  const watching = shop.souk(['verify', 'status', '--watch', '--as', 'ann', '--json'])
  expect((await told('approve', attempt_id, '--reason', 'Papers seen')).status).toBe('approved')
  const watched = await watching
  expect([watched.code, JSON.parse(watched.out)]).toMatchObject([
    0,
    { verification_tier: 'identity_verified', attempt: null, last_attempt: { reason: 'Papers seen' } },
  ])
})

test('a rejection, and a watch whose time ends before it', async () => {
  const { attempt_id, consent_url } = await told('start', '--as', 'bob')
  expect((await verify('status', '--watch', '--wait=1ms', '--as', 'bob')).code).toBe(8)
  await consent(consent_url.split('/').at(-1))
  expect((await verify('reject', attempt_id, '--reason', 'Papers missing')).out).toContain('rejected')
  expect((await told('status', '--as', 'bob')).verification_tier).toBe('unverified')
})

test.each<[string, string[], number]>([
  ['what is no link', ['consent', 'x', '--operator-name', 'Ann', '--yes'], 2],
  ['a link that nobody has', ['consent', '0'.repeat(64), '--operator-name', 'Ann', '--yes'], 3],
  ['consent without a yes', ['consent', '0'.repeat(64), '--operator-name', 'Ann'], 2],
  ['an attempt that nobody made', ['reject', 'vat_0000000000000000', '--reason', 'x'], 3],
])('%s is refused', async (...[, words, code]) => {
  expect((await verify(...words)).code).toBe(code)
})

test('an identity is linked and shows in profile and file', async () => {
  const { identity } = await shop.json(['wallet', 'fund', 'ann', '--identity'])
  const named = ['--agent-id', identity.agent_id, '--registry', identity.agent_registry]
  const linked = await shop.json(['identity', 'link', ...named, '--as', 'ann'])
  expect(linked).toMatchObject({ agent_id: '0', agent_registry: identity.agent_registry })
  expect((await shop.souk(['identity', 'link', ...named, '--as', 'bob'])).code).toBe(4)
  const id = linked.participant_id
  expect((await shop.souk(['participants', 'profile', id])).code).toBe(3)
  await shop.json(['account', 'edit', '--listable', 'yes', '--as', 'ann'])
  const profile = await shop.souk(['participants', 'profile', id])
  expect(profile.out).toContain(`agent 0 of ${identity.agent_registry}`)
  expect(profile.out).toContain('identity_verified')
  const file = await shop.souk(['participants', 'identity', id])
  expect(JSON.parse(file.out).registrations).toEqual([{ agentId: 0, agentRegistry: identity.agent_registry }])
})
