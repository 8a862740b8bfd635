import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered, stranger } from '../../../fixtures/market/people.ts'
import { toWallet } from '../../../src/core/hex.ts'
import { identityLinks } from '../reputation/rows.ts'

// @story two people whose identities are numbered as they come

const listing = { name: 'Echo', description: 'says it again', price: '1.00', fulfillment_type: 'automated' }
const hook = 'http://127.0.0.1:9/hook'

let market: Marketplace
let ann: Person
let carl: Person
/** Agent id 0 is Carl's, 1 is Ann's. */
let registry: string
beforeAll(async () => {
  market = await openMarketplace()
  carl = await registered(market, { type: 'provider', name: 'Carl', description: 'Counts.', webhook_url: hook })
  ann = await registered(market, { type: 'agent', name: 'Ann' })
  await carl.call('POST', '/v1/services', listing)
  const { identityRegistry } = market.daemon.ctx.chain
  registry = identityRegistry.name
  for (const person of [carl, ann]) await identityRegistry.mint?.(toWallet(person.account.address))
})
afterAll(() => market.close())

const read = (id: string, what: string) => market.call('GET', `/v1/participants/${id}/${what}`)
const link = (person: Person, body: unknown) => person.call('POST', '/v1/identity/link', body)
const linksKept = () => market.daemon.ctx.store.table(identityLinks).count('agent', [registry])

type Signing = { seconds?: number; origin?: string; id?: number; as?: Person }

async function signed(person: Person, { seconds = 0, origin = market.url(), id = 0, as = person }: Signing = {}) {
  const timestamp = Math.floor(market.daemon.ctx.clock.wall() / 1000) + seconds
  const lines = ['souk identity link v1', `origin: ${origin}`, `agent_registry: ${registry}`, `agent_id: ${id}`]
  const signature = await person.account.signMessage({ message: [...lines, `timestamp: ${timestamp}`].join('\n') })
  return { agent_id: 0, agent_registry: registry, wallet: as.account.address, signature, timestamp }
}

describe('a profile', () => {
  test('holds trust, band, tier, webhook health, identity and links, by id or wallet', async () => {
    await carl.call('PUT', `/v1/participants/${carl.id}`, { links: { web: 'https://carl.example/' } })
    const { status, body } = await read(carl.id, 'profile')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      participant_id: carl.id,
      verification_tier: 'unverified',
      trust: { verdict: 'unknown', level: 0, subject_id: carl.id, subject_count: 1 },
      reputation: { band: null, confidence: 0, is_new: true },
      webhook_health: { healthy: false, listings: 1, healthy_listings: 0 }, // nothing reached it yet
      identity: null,
      identity_url: `${market.url()}/v1/participants/${carl.id}/identity.json`,
      links: { web: 'https://carl.example/' },
    })
    expect(JSON.stringify(body)).not.toContain(hook)
    expect((await read(carl.account.address, 'profile')).body).toEqual(body)
  })

  test.each(['profile', 'identity.json'])('of whoever is not listed has no %s', async (what) => {
    expect((await read(ann.id, what)).status).toBe(404)
    await ann.call('PUT', `/v1/participants/${ann.id}`, { listable: true })
    const shown = await read(ann.id, what)
    expect([shown.status, 'webhook_health' in shown.body]).toEqual([200, false])
    await ann.call('PUT', `/v1/participants/${ann.id}`, { listable: false })
    expect((await read(ann.id, what)).body.code).toBe('not_found')
    expect((await read('p_0000000000000000', what)).status).toBe(404)
  })
})

describe('an identity is linked', () => {
  test('by key, when its owner is the wallet; the first agent id is 0', async () => {
    const answer = await link(carl, {
      agent_id: 0,
      agent_registry: registry.toUpperCase().replace('EIP', 'eip').replace('0X', '0x'),
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ participant_id: carl.id, agent_id: '0', agent_registry: registry })
    expect((await read(carl.id, 'profile')).body.identity).toMatchObject({ agent_id: '0', agent_registry: registry })
  })

  test('and again, without a second link; another one takes its place', async () => {
    const second = await market.daemon.ctx.chain.identityRegistry.mint?.(toWallet(carl.account.address))
    expect((await link(carl, { agent_id: String(second), agent_registry: registry })).body.agent_id).toBe('2')
    expect((await link(carl, { agent_id: '0', agent_registry: registry })).body.agent_id).toBe('0')
    expect(await linksKept()).toBe(1)
  })

  test('by the signature of the wallet, without a key', async () => {
    const answer = await market.call('POST', '/v1/identity/link', { body: await signed(carl) })
    expect([answer.status, answer.body.participant_id]).toEqual([200, carl.id])
  })

  test('and leaves whoever no longer owns it', async () => {
    const { ctx } = market.daemon
    await ctx.store.tx(async (t) => {
      const locked = await t.table(identityLinks).getForUpdate(carl.id)
      if (locked) await t.table(identityLinks).put({ ...locked, agent_id: '1' })
    })
    expect((await link(ann, { agent_id: 1, agent_registry: registry })).status).toBe(200)
    expect((await read(carl.id, 'profile')).body.identity).toBeNull()
    expect((await link(carl, { agent_id: 0, agent_registry: registry })).status).toBe(200)
  })
})

describe('an identity is not linked', () => {
  const ids = { agent_id: 0, agent_registry: `eip155:1:0x${'1'.repeat(40)}` }
  test.each<[string, () => unknown, number, string]>([
    ['that is of another wallet', () => ({ agent_id: 1, agent_registry: registry }), 403, 'forbidden'],
    ['that nobody has', () => ({ agent_id: 77, agent_registry: registry }), 404, 'not_found'],
    ['of a registry that is not known', () => ids, 404, 'not_found'],
    ['for another wallet than the key has', () => ({ ...ids, wallet: ann.account.address }), 403, 'forbidden'],
    ['with a negative id', () => ({ ...ids, agent_id: -1 }), 400, 'invalid_request'],
    ['with an id that no number holds', () => ({ ...ids, agent_id: '9999999999999999' }), 400, 'invalid_request'],
    ['in no registry', () => ({ agent_id: 0, agent_registry: 'mine' }), 400, 'invalid_request'],
  ])('%s', async (...[, body, ...expected]) => {
    const answer = await link(carl, body())
    expect([answer.status, answer.body.code]).toEqual(expected)
  })

  test.each<[string, () => Promise<unknown>, number, string]>([
    ['without key or signature', async () => ids, 401, 'unauthorized'],
    ['by another signer', () => signed(ann, { as: carl }), 401, 'unauthorized'],
    ['with an old signature', () => signed(carl, { seconds: -301 }), 401, 'unauthorized'],
    ['with one from the future', () => signed(carl, { seconds: 3_600 }), 401, 'unauthorized'],
    ['with one for another marketplace', () => signed(carl, { origin: 'https://x.example' }), 401, 'unauthorized'],
    ['with one for another agent', () => signed(carl, { id: 1 }), 401, 'unauthorized'],
    ['by a wallet that never registered', async () => signed(await stranger(market)), 403, 'registration_required'],
  ])('%s', async (...[, body, ...expected]) => {
    const answer = await market.call('POST', '/v1/identity/link', { body: await body() })
    expect([answer.status, answer.body.code]).toEqual(expected)
  })

  test('by whom the administrator suspended', async () => {
    const path = `/dashboard/api/admin/participants/${ann.id}`
    await market.admin('PUT', path, { body: { suspended: true, reason: 'x' } })
    expect((await link(ann, { agent_id: 1, agent_registry: registry })).body.code).toBe('forbidden')
    await market.admin('PUT', path, { body: { suspended: false, reason: 'x' } })
  })
})

test('the registration file is as ERC-8004 has it', async () => {
  await carl.call('PUT', `/v1/participants/${carl.id}`, {
    links: { mcp: 'https://carl.example/mcp', blog: 'https://b.example/' },
  })
  const { body, headers } = await read(carl.id, 'identity.json')
  const chainId = market.daemon.ctx.chain.chainId
  expect(headers.get('content-type')).toContain('application/json')
  expect(body).toEqual({
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
    name: 'Carl',
    description: 'Counts.',
    image: expect.stringMatching(/^data:image\/svg\+xml;base64,/),
    services: [
      { name: 'MCP', endpoint: 'https://carl.example/mcp' },
      { name: 'blog', endpoint: 'https://b.example/' },
      { name: 'profile', endpoint: `${market.url()}/v1/participants/${carl.id}/profile` },
      { name: 'x402', endpoint: `${market.url()}/v1/services/catalog?provider=${carl.id}` },
      { name: 'agentWallet', endpoint: `eip155:${chainId}:${carl.account.address}` },
    ],
    x402Support: true,
    active: true,
    registrations: [{ agentId: 0, agentRegistry: registry }],
    supportedTrust: ['reputation'],
  })
})
