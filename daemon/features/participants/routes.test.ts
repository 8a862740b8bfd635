import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace, signPayment } from '../../../fixtures/market/marketplace.ts'
import { type Person, personOf, registered, stranger, texts } from '../../../fixtures/market/people.ts'
import { toWallet } from '../../../src/core/hex.ts'
import { participants } from '../../kernel/rows.ts'
import { services } from '../listings/rows.ts'

let market: Marketplace
let ann: Person
beforeAll(async () => {
  market = await openMarketplace()
  ann = await registered(market, { type: 'agent', name: 'Ann' })
})
afterAll(() => market.close())

const balance = (person: Person) => market.daemon.ctx.chain.balanceOf(toWallet(person.account.address))
const rowOf = (id: string) => market.daemon.ctx.store.table(participants).get(id)
const listing = { name: 'Word count', description: 'Counts words.', price: '0.05', fulfillment_type: 'automated' }

describe('POST /v1/participants/rotate-key', () => {
  const path = '/v1/participants/rotate-key'

  test('gives a new key once and kills the old one', async () => {
    const bob = await registered(market, { type: 'agent' })
    const rotated = await bob.pay(path)
    expect([rotated.status, rotated.body.participant_id]).toEqual([200, bob.id])
    expect(rotated.body.api_key).toMatch(/^sk_[0-9a-f]{40}$/)
    expect((await bob.call('GET', '/v1/jobs')).status).toBe(401)
    const again = personOf(market, bob.account, { id: bob.id, key: rotated.body.api_key })
    expect((await again.call('GET', '/v1/jobs')).status).toBe(200)
    expect(await balance(bob)).toBe(9_989_000n)
  })

  test('an unregistered wallet is 403 and keeps its money', async () => {
    const nobody = await stranger(market)
    const refused = await nobody.pay(path)
    expect([refused.status, refused.body.code]).toEqual([403, 'registration_required'])
    expect(await balance(nobody)).toBe(10_000_000n)
  })

  test('the same payment sent again gets the same key, though the old one that comes along is dead by now', async () => {
    const bob = await registered(market, { type: 'agent' })
    const payment = await signPayment(bob.account, await market.call('POST', path))
    const headers = { ...payment, 'Idempotency-Key': 'again', 'X-API-Key': bob.key }
    const first = await market.call('POST', path, { headers })
    const retry = await market.call('POST', path, { headers })
    expect([retry.status, retry.text]).toEqual([200, first.text])
    expect(await balance(bob)).toBe(9_989_000n)
  })

  test('another wallet’s key beside the payment is 403, uncharged', async () => {
    const bob = await registered(market, { type: 'agent' })
    const refused = await bob.pay(path, { headers: { 'X-API-Key': ann.key } })
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden'])
    expect(await balance(bob)).toBe(9_990_000n)
  })

  test('a balance credential is no proof of a wallet: 400', async () => {
    const refused = await market.call('POST', path, { headers: { 'X-BALANCE-AUTH': ann.key } })
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request'])
    expect((await ann.call('GET', '/v1/jobs')).status).toBe(200)
  })
})

describe('POST /v1/provider/onboard', () => {
  const path = '/v1/provider/onboard'
  const body = {
    name: 'Counters',
    services: [listing, { ...listing, name: 'Letter count', price: { fixed: '$0.25' } }],
  }

  test('registers and lists in one call, and the listings are in the catalog', async () => {
    const carl = await stranger(market)
    const done = await carl.pay(path, { body })
    expect([done.status, done.body.type, done.body.wallet]).toEqual([200, 'provider', carl.account.address])
    expect(done.body.services.map((s: { agent_price: object }) => s.agent_price)).toEqual([
      { fixed: '$0.053' },
      { fixed: '$0.263' },
    ])
    const found = await market.call('GET', `/v1/services/catalog?provider=${done.body.participant_id}`)
    expect(found.body.total).toBe(2)
    expect(await balance(carl)).toBe(9_990_000n)
  })

  const second = (change: object) => ({ ...body, services: [listing, { ...listing, ...change }] })
  test.each([
    ['a price below the step', second({ price: '0.0001' }), 'services.1.price'],
    ['a price of another kind', second({ price: true }), 'services.1.price'],
    ['a missing price', second({ price: undefined }), 'services.1.price'],
    ['an unknown member', second({ colour: 'red' }), 'services.1.colour'],
    [
      'a schema that does not compile',
      second({ input_schema: { type: 'object', properties: { a: { type: 'no' } } } }),
      'services.1.input_schema.properties.a.type',
    ],
    [
      'a webhook over plain HTTP elsewhere',
      second({ webhook_url: 'http://example.com/hook' }),
      'services.1.webhook_url',
    ],
    ['no services', { ...body, services: [] }, 'services'],
    ['a name that reads as the house', { ...body, name: 's0uk' }, 'name'],
    ['a listing called as the house', second({ name: 'ＳＯＵＫ' }), 'services.1.name'],
    ['an agent', { ...body, type: 'agent' }, 'type'],
    ['an unknown referral code', { ...body, referral_code: 'ref_p_0' }, 'referral_code'],
    ['another version of the terms', { ...body, accept_terms: 'v0' }, 'accept_terms'],
  ])('%s is a 400 that names it; nothing is written or charged', async (_, bad, at) => {
    const carl = await stranger(market)
    const before = await counts()
    const refused = await carl.pay(path, { body: bad })
    expect([refused.status, refused.body.code, refused.body.details[0].path]).toEqual([400, 'invalid_request', at])
    expect(await counts()).toEqual(before)
    expect(await balance(carl)).toBe(10_000_000n)
  })

  test('a registered wallet is 409, uncharged', async () => {
    const refused = await ann.pay(path, { body })
    expect([refused.status, refused.body.code, refused.body.participant_id]).toEqual([409, 'conflict', ann.id])
    expect(await balance(ann)).toBe(9_990_000n)
  })

  async function counts(): Promise<number[]> {
    const { store } = market.daemon.ctx
    return [await store.table(participants).count('newest', []), await store.table(services).count('status', [])]
  }
})

describe('PUT /v1/participants/{id}', () => {
  test('changes what is given and nothing else', async () => {
    const dora = await registered(market, { type: 'provider', name: 'Dora', capabilities: ['a'] })
    const change = {
      description: 'counts',
      links: { home: 'https://dora.example' },
      webhook_url: 'http://127.0.0.1:9/x',
    }
    const done = await dora.call('PUT', `/v1/participants/${dora.id}`, change)
    expect([done.status, done.body.name, done.body.capabilities]).toEqual([200, 'Dora', ['a']])
    expect(done.body).toMatchObject(change)
    const cleared = await dora.call('PUT', `/v1/participants/${dora.account.address}`, { webhook_url: null })
    expect([cleared.body.webhook_url, cleared.body.description]).toEqual([null, 'counts'])
  })

  test('rotates the webhook secret on demand and keeps the old one for 24 hours', async () => {
    const dora = await registered(market, { type: 'provider' })
    const before = await rowOf(dora.id)
    const plain = await dora.call('PUT', `/v1/participants/${dora.id}`, { name: 'Dora' })
    expect(plain.body.webhook_secret).toBeUndefined()
    const rotated = await dora.call('PUT', `/v1/participants/${dora.id}`, { rotate_webhook_secret: true })
    const row = await rowOf(dora.id)
    expect(rotated.body.webhook_secret).toMatch(/^whsec_/)
    expect(rotated.body.webhook_secret).not.toBe(before?.webhook_secret)
    expect(row?.webhook_secret).toBe(rotated.body.webhook_secret)
    expect(row?.previous_webhook_secret).toEqual({
      secret: before?.webhook_secret,
      until: Date.parse(rotated.body.previous_secret_until),
    })
  })

  test.each([
    { whose: 'another’s profile', id: () => ann.id, expected: [403, 'forbidden'] },
    { whose: 'another’s wallet', id: () => ann.account.address, expected: [403, 'forbidden'] },
    { whose: 'nobody’s profile', id: () => 'p_0000000000000000', expected: [404, 'not_found'] },
  ])('$whose is refused', async ({ id, expected }) => {
    const eve = await registered(market, { type: 'agent' })
    const refused = await eve.call('PUT', `/v1/participants/${id()}`, { name: 'x' })
    expect([refused.status, refused.body.code]).toEqual(expected)
    expect((await rowOf(ann.id))?.name).toBe('Ann')
  })

  test.each([
    ['name', { name: '' }],
    ['name', { name: 'Sо U k' }],
    ['name', { name: 'An\u200Bn' }],
    ['name', { name: 'x'.repeat(81) }],
    ['type', { type: 'provider' }],
    ['webhook_url', { webhook_url: 'ftp://127.0.0.1/' }],
    ['webhook_url', { webhook_url: 'http://192.168.0.1/hook' }],
    ['webhook_url', { webhook_url: 'http://127.0.0.1.example.com/' }],
    ['webhook_url', { webhook_url: 'http://127.0.0.1:/hook' }],
    ['webhook_url', { webhook_url: 'https://example.com:?x' }],
    ['webhook_url', { webhook_url: 'https://user:word@example.com/' }],
    ['links.home', { links: { home: 'javascript:alert(1)' } }],
    ['listable', { listable: 'yes' }],
    ['rotate_webhook_secret', { rotate_webhook_secret: false }],
    ['accept_terms', { accept_terms: 'v0' }],
    ['wallet', { wallet: `0x${'0'.repeat(40)}` }],
  ])('a bad %s is a 400 that names it', async (at, body) => {
    const refused = await ann.call('PUT', `/v1/participants/${ann.id}`, body)
    expect([refused.status, refused.body.details[0].path]).toEqual([400, at])
  })
})

describe('GET /v1/participants/directory', () => {
  const listed = async (query = '') => {
    const answer = await market.call('GET', `/v1/participants/directory?limit=100${query}`)
    return answer.body.participants.map((row: { id: string }) => row.id) as string[]
  }

  test('lists a provider while it has an active listing, unless it says otherwise', async () => {
    const finn = await registered(market, { type: 'provider' })
    const seen: boolean[] = []
    const look = async () => seen.push((await listed()).includes(finn.id))
    await look()
    const created = await finn.call('POST', '/v1/services', listing)
    await look()
    await finn.call('PUT', `/v1/services/${created.body.id}`, { status: 'inactive' })
    await look()
    await finn.call('PUT', `/v1/services/${created.body.id}`, { status: 'active' })
    await look()
    await finn.call('PUT', `/v1/participants/${finn.id}`, { listable: false })
    await look()
    await finn.call('PUT', `/v1/participants/${finn.id}`, { listable: null })
    await look()
    await finn.call('DELETE', `/v1/services/${created.body.id}`)
    await look()
    await finn.call('PUT', `/v1/participants/${finn.id}`, { listable: true })
    await look()
    expect(seen).toEqual([false, true, false, true, false, true, false, true])
  })

  test('walks newest first through a cursor, each once, and by type', async () => {
    const agents = []
    for (const name of ['one', 'two', 'three']) {
      const agent = await registered(market, { type: 'agent', name })
      await agent.call('PUT', `/v1/participants/${agent.id}`, { listable: true })
      agents.unshift(agent.id)
    }
    const walked: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`
      const page = await market.call('GET', `/v1/participants/directory?type=agent&limit=2${query}`)
      walked.push(...page.body.participants.map((row: { id: string }) => row.id))
      cursor = page.body.next_cursor
    }
    expect(walked).toEqual(agents)
    expect(await listed('&type=agent')).toEqual(agents)
    expect(await listed()).toEqual(expect.arrayContaining(agents))
  })

  test.each([
    ['cursor', 'cursor=nonsense'],
    ['type', 'type=robot'],
    ['limit', 'limit=101'],
  ])('a bad %s is a 400 that names it', async (at, query) => {
    const refused = await market.call('GET', `/v1/participants/directory?${query}`)
    expect([refused.status, refused.body.details[0].path]).toEqual([400, at])
  })
})

test('no open row shows what is private', async () => {
  const gil = await registered(market, { type: 'provider', webhook_url: 'https://gil.example/secret-hook' })
  const created = await gil.call('POST', '/v1/services', {
    ...listing,
    webhook_url: 'https://gil.example/service-hook',
  })
  const row = await rowOf(gil.id)
  const seen = texts(
    await Promise.all(
      [
        `/v1/participants/${gil.id}`,
        '/v1/participants/directory?limit=100',
        `/v1/services/${created.body.id}`,
        `/v1/services/catalog?provider=${gil.id}`,
      ].map((path) => market.call('GET', path)),
    ),
  )
  expect(seen).toContain(gil.id)
  for (const secret of [row?.key_hash, row?.webhook_secret, gil.key, 'secret-hook', 'service-hook']) {
    expect(seen).not.toContain(secret)
  }
})
