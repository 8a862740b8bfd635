import { createHmac } from 'node:crypto'
import { load } from 'cheerio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Answer, type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { sandboxVendor, type VerificationVendor } from '../../ports/vendor.ts'
import { verificationVendor } from './routes.ts'
import { attempts } from './rows.ts'

// @story one person and the attempts that follow each other

const SECRET = Buffer.alloc(32, 7)
const listing = { name: 'Echo', description: 'says it again', price: '1.00', fulfillment_type: 'automated' }
const admin = '/dashboard/api/admin/verification'

/** The sandbox's vendor, with a secret that the test knows and a way to be out of order. */
let isDown = false
const plain = sandboxVendor(SECRET)
const vendor: VerificationVendor = {
  ...plain,
  openSession: async (order) => {
    if (isDown) throw new Error('no answer')
    return plain.openSession(order)
  },
}

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace({ crons: true }, { ticker: noTicks, vendor })
})
afterAll(() => market.close())

const someone = () => registered(market, { type: 'provider', name: 'Ann', webhook_url: 'http://127.0.0.1:9/hook' })
const start = (person: Person) => person.call('POST', '/v1/verification/start')
const status = async (person: Person) => (await person.call('GET', '/v1/verification/status')).body
const pathOf = (started: Answer) => new URL(started.body.consent_url).pathname
const tokenOf = (started: Answer) => pathOf(started).split('/').at(-1) as string
const consent = (started: Answer, change: Record<string, unknown> = {}) =>
  market.call('POST', '/v1/verification/consent', {
    body: { token: tokenOf(started), operator_name: ' Ann Smith ', agree: true, ...change },
  })
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const fieldsOf = (fields: { name: string; value: string }[]) =>
  Object.fromEntries(fields.map(({ name, value }) => [name, value]))
const decide = (id: string, decision: string) =>
  market.admin('POST', `${admin}/${id}/decide`, { body: { decision, reason: 'papers seen' } })
const rowOf = async (id: string) => market.daemon.ctx.store.table(attempts).get(id)

async function consented(person: Person) {
  const started = await start(person)
  await consent(started)
  const id: string = started.body.attempt_id
  return { id, session: (await rowOf(id))?.vendor_session as string }
}

type Sent = { seconds?: number; secret?: Buffer; signedAs?: unknown }

function callback(body: unknown, { seconds = 0, secret = SECRET, signedAs = body }: Sent = {}) {
  const timestamp = Math.floor(market.daemon.ctx.clock.wall() / 1000) + seconds
  const signature = createHmac('sha256', secret)
    .update(`${timestamp}.${JSON.stringify(signedAs)}`)
    .digest('hex')
  const headers = { 'X-VENDOR-SIGNATURE': signature, 'X-VENDOR-TIMESTAMP': String(timestamp) }
  return market.call('POST', '/v1/verification/vendor-callback', { body, headers })
}

describe('from start to tier', () => {
  test('the human consents on a page, the vendor approves, and the catalog has it verified', async () => {
    const ann = await someone()
    const { body: listed } = await ann.call('POST', '/v1/services', listing)
    const verifiedOnly = async () =>
      (await market.call('GET', `/v1/services/catalog?verified_only=true&provider=${ann.id}`)).body.total
    expect([await verifiedOnly(), await status(ann)]).toEqual([
      0,
      { participant_id: ann.id, verification_tier: 'unverified', attempt: null, last_attempt: null },
    ])

    const started = await start(ann)
    expect(started.body.consent_url.startsWith(`${market.url()}/verification/consent/`)).toBe(true)
    expect(tokenOf(started)).toMatch(/^[0-9a-f]{64}$/)
    expect((await market.call('HEAD', pathOf(started))).status).toBe(200)
    for (let look = 0; look < 2; look += 1) {
      const page = await market.call('GET', pathOf(started))
      expect(page.headers.get('content-security-policy')).toContain("form-action 'self'")
      expect(load(page.text)('form').attr('action')).toBe('/v1/verification/consent')
      expect(load(page.text)('input[name=token]').attr('value')).toBe(tokenOf(started))
    }
    expect((await status(ann)).attempt).toMatchObject({ status: 'pending_consent', operator_name: null })

    const agreed = await consent(started)
    expect(agreed.body).toMatchObject({ status: 'vendor_pending', vendor: 'sandbox', vendor_url: null })
    expect((await market.call('GET', pathOf(started))).status).toBe(404)
    expect((await consent(started)).status).toBe(404)

    const list = await market.admin('GET', `${admin}?status=vendor_pending`)
    const mine = list.body.attempts.filter((one: { participant_id: string }) => one.participant_id === ann.id)
    expect(mine).toMatchObject([
      {
        attempt_id: started.body.attempt_id,
        operator_name: 'Ann Smith',
        name: 'Ann',
        verification_tier: 'unverified',
      },
    ])
    const decided = await decide(started.body.attempt_id, 'approved')
    expect(decided.body).toMatchObject({ status: 'approved', reason: 'papers seen' })
    expect(await status(ann)).toMatchObject({
      verification_tier: 'identity_verified',
      attempt: null,
      last_attempt: { status: 'approved' },
    })
    expect([await verifiedOnly(), (await start(ann)).body.code]).toEqual([1, 'conflict'])
    const shown = await market.call('GET', `/v1/services/${listed.id}`)
    expect(shown.body.provider_verification_tier).toBe('identity_verified')
    const log = await market.admin('GET', '/dashboard/api/admin/log')
    expect(JSON.stringify(log.body)).toContain('verification.decide')
  })

  test('the form of the page does the same, once, however often it is sent at once', async () => {
    const ann = await someone()
    const started = await start(ann)
    const form = new URLSearchParams({ token: tokenOf(started), operator_name: 'Ann', agree: 'true' })
    const send = () => fetch(`${market.url()}/v1/verification/consent`, { method: 'POST', body: form })
    const answers = await Promise.all(Array.from({ length: 5 }, send))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 404, 404, 404, 404])
    expect(new Set(answers.map(({ headers }) => headers.get('content-type')))).toEqual(
      new Set(['application/json; charset=utf-8']),
    )
  })

  test('a browser that sends the form gets a page: what was agreed to, and who goes on', async () => {
    const ann = await someone()
    const started = await start(ann)
    const form = load((await market.call('GET', pathOf(started))).text)('form')
    const body = new URLSearchParams({ ...fieldsOf(form.serializeArray()), operator_name: '<b>Ann</b>', agree: 'true' })
    const address = new URL(form.attr('action') ?? '', market.url())
    const send = () => fetch(address, { method: 'POST', body, headers: { Accept: BROWSER } })
    const done = await send()
    const page = load(await done.text())
    expect([done.status, page('h1').text()]).toEqual([200, 'Your consent is recorded'])
    expect(done.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page('td').text()).toContain('<b>Ann</b>')
    expect(page('main').text()).toContain('you may close this page')
    expect((await status(ann)).attempt).toMatchObject({ status: 'vendor_pending', operator_name: '<b>Ann</b>' })

    const again = await send()
    const refused = load(await again.text())
    expect([again.status, refused('h1').text()]).toEqual([404, 'Page not found'])
    expect(refused('main').text()).toContain('If you have already agreed, you are done.')
  })

  test('the token is kept as its hash only, and in no answer or event after the first', async () => {
    const ann = await someone()
    const started = await start(ann)
    const texts = [
      JSON.stringify(await rowOf(started.body.attempt_id)),
      (await market.admin('GET', admin)).text,
      (await ann.call('GET', '/v1/verification/status')).text,
      (await ann.call('GET', '/v1/events')).text,
    ]
    expect(texts.filter((text) => text.includes(tokenOf(started)))).toEqual([])
    expect(texts[3]).toContain('verification.pending_consent')
  })

  test('a rejection leaves the tier and lets them start again', async () => {
    const ann = await someone()
    const { id } = await consented(ann)
    await decide(id, 'rejected')
    expect(await status(ann)).toMatchObject({ verification_tier: 'unverified', last_attempt: { status: 'rejected' } })
    expect((await start(ann)).status).toBe(200)
  })

  test('markup in a name is inert on the page', async () => {
    const evil = '"><script>alert(1)</script>'
    const ann = await registered(market, { type: 'agent', name: evil })
    const page = load((await market.call('GET', pathOf(await start(ann)))).text)
    expect([page('script').length, page('h1').text()]).toEqual([0, `Identity verification of ${evil}`])
  })
})

describe('one attempt at a time', () => {
  test('a second start is a 409 that names the first', async () => {
    const ann = await someone()
    const first = await start(ann)
    const second = await start(ann)
    expect([second.status, second.body.code, second.body.attempt_id]).toEqual([409, 'conflict', first.body.attempt_id])
    const both = await someone()
    const starts = await Promise.all([start(both), start(both), start(both)])
    expect(starts.map((answer) => answer.status).sort()).toEqual([200, 409, 409])
  })
})

describe('consent', () => {
  test.each<[string, Record<string, unknown>, number]>([
    ['without agreement', { agree: false }, 400],
    ['without a name', { operator_name: '  ' }, 400],
    ['with another token', { token: '0'.repeat(64) }, 404],
  ])('%s is refused and uses nothing up', async (...[, change, refused]) => {
    const started = await start(await someone())
    expect((await consent(started, change)).status).toBe(refused)
    expect((await consent(started)).status).toBe(200)
  })

  test('while the vendor does not answer is a 503 and uses nothing up', async () => {
    const started = await start(await someone())
    isDown = true
    const refused = await consent(started)
    isDown = false
    expect([refused.status, refused.body.code]).toEqual([503, 'unavailable'])
    expect((await consent(started)).status).toBe(200)
  })
})

describe("the vendor's callback", () => {
  test('approves, and again changes nothing; another decision then is a 409', async () => {
    const ann = await someone()
    const { id, session } = await consented(ann)
    const body = { session_id: session, decision: 'approved' }
    expect((await callback(body)).body).toEqual({ attempt_id: id, status: 'approved' })
    const version = (await rowOf(id))?.version
    expect((await callback(body)).body).toEqual({ attempt_id: id, status: 'approved' })
    expect((await rowOf(id))?.version).toBe(version)
    const other = await callback({ session_id: session, decision: 'rejected' })
    expect([other.status, other.body.from, other.body.allowed]).toEqual([409, 'approved', []])
    expect((await status(ann)).verification_tier).toBe('identity_verified')
  })

  test.each<[string, Sent]>([
    ['signed with another secret', { secret: Buffer.alloc(32, 8) }],
    ['that is old', { seconds: -302 }],
    ['from the future', { seconds: 3_600 }],
    ['over another body', { signedAs: { session_id: 'x', decision: 'approved' } }],
  ])('%s is a 401 and changes nothing', async (_, sent) => {
    const { id, session } = await consented(await someone())
    const answer = await callback({ session_id: session, decision: 'approved' }, sent)
    expect([answer.status, (await rowOf(id))?.status]).toEqual([401, 'vendor_pending'])
  })

  test('without a signature is a 401; of a session that nobody has a 404', async () => {
    const body = { session_id: 'vs_1', decision: 'approved' }
    expect((await market.call('POST', '/v1/verification/vendor-callback', { body })).status).toBe(401)
    expect((await callback(body)).status).toBe(404)
  })
})

describe('the administrator', () => {
  test('cannot decide before the consent, after the end, or without a word', async () => {
    const started = await start(await someone())
    const id = started.body.attempt_id
    expect((await decide(id, 'approved')).body).toMatchObject({ code: 'invalid_transition', from: 'pending_consent' })
    await consent(started)
    const silent = await market.admin('POST', `${admin}/${id}/decide`, { body: { decision: 'approved' } })
    expect(silent.status).toBe(400)
    expect((await decide(id, 'rejected')).status).toBe(200)
    expect((await decide(id, 'rejected')).body).toMatchObject({ code: 'invalid_transition', from: 'rejected' })
    expect((await decide('vat_0000000000000000', 'approved')).status).toBe(404)
  })
})

describe('after 24 hours', () => {
  const advance = (ms: number) => market.admin('POST', '/dashboard/api/admin/clock', { body: { advance_ms: ms } })
  const frozen = () => market.admin('POST', '/dashboard/api/admin/crons/housekeeping/pause')

  test('an attempt ends without anybody asking', async () => {
    const [ann, bob] = [await someone(), await someone()]
    const waiting = await start(ann)
    const { id } = await consented(bob)
    await advance(DAY_MS + HOUR_MS)
    const rows = [await rowOf(waiting.body.attempt_id), await rowOf(id)]
    expect(rows).toMatchObject([
      { status: 'expired', live: false, token_hash: null },
      { status: 'expired', live: false },
    ])
    const { body } = await ann.call('GET', '/v1/events')
    expect(JSON.stringify(body)).toContain('verification.expired')
  })

  test('reads, the link and a new start know it before that', async () => {
    await frozen()
    const [ann, bob] = [await someone(), await someone()]
    const started = await start(ann)
    const { id, session } = await consented(bob)
    await advance(DAY_MS)
    expect((await rowOf(id))?.live).toBe(true)
    expect(await status(ann)).toMatchObject({ attempt: null, last_attempt: { status: 'expired' } })
    expect((await market.call('GET', pathOf(started))).status).toBe(404)
    expect((await consent(started)).status).toBe(404)
    const late = await callback({ session_id: session, decision: 'approved' })
    expect([late.status, late.body.from]).toEqual([409, 'expired'])
    expect((await start(ann)).status).toBe(200)
    expect((await market.admin('GET', `${admin}?status=vendor_pending`)).body.total).toBe(0)
    expect((await rowOf(id))?.status).toBe('expired')
  })
})

test('the secret of the callbacks is made once for an installation', async () => {
  const own = await openMarketplace()
  const before = verificationVendor.of(own.daemon.ctx)
  const wall = own.daemon.ctx.clock.wall()
  const signed = before.decide?.({ session_id: 'x', decision: 'approved' }, wall)
  await own.restart()
  expect(signed && verificationVendor.of(own.daemon.ctx).isGenuine(signed, wall)).toBe(true)
  expect(signed && verificationVendor.of(market.daemon.ctx).isGenuine(signed, wall)).toBe(false)
  await own.close()
})
