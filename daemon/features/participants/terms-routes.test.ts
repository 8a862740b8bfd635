import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered, stranger } from '../../../fixtures/market/people.ts'
import { participants } from '../../kernel/rows.ts'
import { writePlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'

let market: Marketplace
let version: string
beforeAll(async () => {
  market = await openMarketplace()
  version = (await market.call('GET', '/v1/terms')).body.version
})
afterAll(() => market.close())

const listing = { name: 'Word count', description: 'Counts words.', price: '0.05', fulfillment_type: 'automated' }

async function requireTerms(required: boolean): Promise<void> {
  const { ctx } = market.daemon
  await commit(ctx, (t) => writePlatform(t, { terms_required: required }))
  while (ctx.switches.now().termsRequired !== required) await new Promise((done) => setTimeout(done, 1))
}

const refusals = async () => (await market.call('GET', '/health')).body.launch.gate_refusals_24h.terms_required ?? 0

test('GET /v1/terms has the text, its version and where it is', async () => {
  const terms = await market.call('GET', '/v1/terms')
  expect(terms.body).toEqual({ version, required: false, url: `${market.url()}/v1/terms`, text: terms.body.text })
  expect(terms.body.text).toContain(version)
})

describe('POST /v1/terms/accept', () => {
  test('keeps the version and the time of its first acceptance', async () => {
    const ann = await registered(market, { type: 'agent' })
    const first = await ann.call('POST', '/v1/terms/accept', { version })
    expect([first.status, first.body.participant_id, first.body.version]).toEqual([200, ann.id, version])
    const second = await ann.call('POST', '/v1/terms/accept', { version })
    expect(second.body).toEqual(first.body)
    expect((await market.daemon.ctx.store.table(participants).get(ann.id))?.terms_version).toBe(version)
  })

  test.each([{ version: 'v0' }, { version: 1 }, {}])('%o is a 400 that names the field', async (body) => {
    const ann = await registered(market, { type: 'agent' })
    const refused = await ann.call('POST', '/v1/terms/accept', body)
    expect([refused.status, refused.body.details[0].path]).toEqual([400, 'version'])
  })
})

describe('while acceptance is required', () => {
  let provider: Person
  beforeAll(() => requireTerms(true))
  afterAll(() => requireTerms(false))
  beforeEach(async () => {
    provider = await registered(market, { type: 'provider' })
  })

  test('writes of listings are refused and counted until the terms are accepted', async () => {
    const counted = await refusals()
    const refused = [
      await provider.call('POST', '/v1/services', listing),
      await provider.call('PUT', '/v1/services/svc_0000000000000000', {}),
      await provider.call('DELETE', '/v1/services/svc_0000000000000000'),
    ]
    for (const { status, body } of refused) {
      expect([status, body.code, body.terms_version, body.terms_url]).toEqual([
        403,
        'terms_required',
        version,
        `${market.url()}/v1/terms`,
      ])
    }
    expect((await refusals()) - counted).toBe(3)
    await provider.call('POST', '/v1/terms/accept', { version })
    expect((await provider.call('POST', '/v1/services', listing)).status).toBe(200)
    expect((await refusals()) - counted).toBe(3)
  })

  test('reads, messages and the own profile go on', async () => {
    const answers = [
      provider.call('GET', '/v1/services/catalog'),
      provider.call('GET', '/v1/threads'),
      provider.call('PUT', `/v1/participants/${provider.id}`, { name: 'Still me' }),
    ]
    expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual([200, 200, 200])
  })

  test.each([
    [
      'an update of the profile',
      (who: Person) => who.call('PUT', `/v1/participants/${who.id}`, { accept_terms: version }),
    ],
    ['POST /v1/terms/accept', (who: Person) => who.call('POST', '/v1/terms/accept', { version })],
  ])('they are accepted by %s', async (_, accept) => {
    expect((await accept(provider)).status).toBe(200)
    expect((await provider.call('POST', '/v1/services', listing)).status).toBe(200)
  })

  test('registration with accept_terms is acceptance; with another version it is a 400', async () => {
    const early = await registered(market, { type: 'provider', accept_terms: version })
    expect((await early.call('POST', '/v1/services', listing)).status).toBe(200)
    const late = await stranger(market)
    const refused = await late.pay('/v1/register', { body: { name: 'x', type: 'agent', accept_terms: 'v0' } })
    expect([refused.status, refused.body.details[0].path]).toEqual([400, 'accept_terms'])
  })

  test('onboarding needs accept_terms, before any charge', async () => {
    const carl = await stranger(market, '0.01')
    const body = { name: 'Carl', services: [listing] }
    const refused = await carl.pay('/v1/provider/onboard', { body })
    expect([refused.status, refused.body.code]).toEqual([403, 'terms_required'])
    const accepted = await carl.pay('/v1/provider/onboard', { body: { ...body, accept_terms: version } })
    expect(accepted.status).toBe(200)
  })
})
