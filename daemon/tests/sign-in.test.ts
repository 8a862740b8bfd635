import { x402Client } from '@x402/core/client'
import type { ClientEvmSigner } from '@x402/evm'
import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402HTTPClient } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { listing, type Member, member, payFor, soundBooks } from '../../fixtures/kit/money.ts'
import { type Answer, type Buyer, type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { load as outside } from '../../fixtures/outside/load.ts'
import { SignInChallenge, signInPayload, signInText } from '../../src/api/endpoint/sign-in.ts'
import { toBase64 } from '../../src/api/endpoint/x402.ts'
import { MINUTE_MS } from '../../src/core/time.ts'

const { createSIWxClientExtension, createSIWxPayload, encodeSIWxHeader, parseSIWxHeader, wrapFetchWithSIWx } =
  await outside('@x402/extensions/sign-in-with-x')

let market: Marketplace
let buyer: Buyer
let other: Buyer
let job: string
let work: { readonly id: string; readonly provider: { readonly account: PrivateKeyAccount } }
let wallOffset = 0

beforeAll(async () => {
  market = await openMarketplace({}, { clock: { now: () => Date.now(), wall: () => Date.now() + wallOffset } })
  work = await listing(market)
  buyer = await market.buyer()
  other = await market.buyer()
  job = (await payFor(market, buyer, { path: `/v1/services/${work.id}/purchase`, body: { text: 'mine' } })).body.job_id
})
afterAll(() => market.close())
afterEach(async () => {
  wallOffset = 0
  await soundBooks(market)
})

const funds = (one: Buyer) => market.daemon.ctx.chain.balanceOf(one.wallet)
const challengeOf = ({ body }: Answer) => SignInChallenge.parse(body.extensions['sign-in-with-x'])

/** The header that the published library writes for what an answer asks. */
async function headerFor(answer: Answer, account: PrivateKeyAccount): Promise<string> {
  const { info, supportedChains } = challengeOf(answer)
  const chain = supportedChains[0] as SignInChallenge['supportedChains'][number]
  return encodeSIWxHeader(await createSIWxPayload({ ...info, ...chain }, account, market.url()))
}

const signedRead = (path: string, header: string) => market.call('GET', path, { headers: { 'SIGN-IN-WITH-X': header } })

describe('the published sign-in client', () => {
  test('reads the job that its wallet bought whole, without paying for it', async () => {
    const before = await funds(buyer)
    const read = wrapFetchWithSIWx(fetch, buyer.account)
    const answer = await read(`${market.url()}/v1/jobs/${job}`)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ id: job, input: { text: 'mine' }, escrow: { status: 'held' } })
    expect(await funds(buyer)).toBe(before)
  })

  test('signs in before it pays where both are wrapped into one fetch', async () => {
    const before = await funds(buyer)
    const client = new x402Client()
    registerExactEvmScheme(client, { signer: buyer.account as unknown as ClientEvmSigner }) // the published type takes records where the account is generic
    client.registerExtension(createSIWxClientExtension({ signers: [buyer.account] }))
    const answer = await wrapFetchWithPayment(fetch, new x402HTTPClient(client))(`${market.url()}/v1/jobs/${job}`)
    expect([answer.status, await answer.json()]).toMatchObject([200, { input: { text: 'mine' } }])
    expect(await funds(buyer)).toBe(before)
  })

  test('of a provider reads what it has to do', async () => {
    const read = wrapFetchWithSIWx(fetch, work.provider.account)
    expect(await (await read(`${market.url()}/v1/jobs/${job}`)).json()).toMatchObject({ input: { text: 'mine' } })
  })

  test('of a stranger is asked to pay, as without it', async () => {
    const answer = await wrapFetchWithSIWx(fetch, other.account)(`${market.url()}/v1/jobs/${job}`)
    expect([answer.status, await answer.json()]).toMatchObject([402, { accepts: [{ maxAmountRequired: '1000' }] }])
  })

  test('lists the jobs of a wallet that never registered', async () => {
    const unknown = await market.call('GET', '/v1/jobs')
    expect(unknown.status).toBe(401)
    const mine = await signedRead('/v1/jobs?role=buyer&limit=5', await headerFor(unknown, buyer.account))
    expect([mine.status, mine.body]).toMatchObject([200, { total: 1, jobs: [{ id: job }] }])
    const next = await headerFor(await market.call('GET', '/v1/jobs'), buyer.account)
    expect((await signedRead('/v1/jobs?offset=1', next)).body).toMatchObject({ total: 1, jobs: [] })
    const none = await signedRead('/v1/jobs', await headerFor(await market.call('GET', '/v1/jobs'), other.account))
    expect([none.status, none.body.total]).toEqual([200, 0])
  })

  test('opens to a registered wallet what its key opens', async () => {
    const one: Member = await member(market)
    const unknown = await market.call('GET', '/v1/jobs')
    const signed = await signedRead('/v1/jobs', await headerFor(unknown, one.account))
    const keyed = await market.call('GET', '/v1/jobs', { headers: { 'X-API-Key': one.apiKey } })
    expect(signed.body).toEqual(keyed.body)
  })
})

test('our text and header are those of the published library', async () => {
  const asked = await market.call('GET', `/v1/jobs/${job}`)
  const challenge = challengeOf(asked)
  const { address } = buyer.account
  const chainId = 'eip155:8453'
  const signature = await buyer.account.signMessage({ message: signInText(challenge.info, { address, chainId }) })
  const ours = toBase64(signInPayload(challenge, { address, signature }))
  expect(parseSIWxHeader(ours)).toEqual(parseSIWxHeader(await headerFor(asked, buyer.account)))
  expect((await signedRead(`/v1/jobs/${job}`, ours)).status).toBe(200)
})

test('the header and the body of a 402 ask for a sign-in in the same words', async () => {
  const { headers, body } = await market.call('GET', `/v1/jobs/${job}`)
  const required = JSON.parse(Buffer.from(headers.get('PAYMENT-REQUIRED') as string, 'base64').toString())
  expect(required.extensions).toMatchObject(body.extensions)
})

describe('a sign-in that proves nothing here and now opens nothing, charges nothing and asks anew', () => {
  const path = () => `/v1/jobs/${job}`
  const ask = () => market.call('GET', path())

  async function refused(header: string, at = path()): Promise<string> {
    const before = await funds(buyer)
    const answer = await signedRead(at, header)
    expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized'])
    expect(challengeOf(answer).info.uri).toBe(`${market.url()}${at}`)
    expect(await funds(buyer)).toBe(before)
    return answer.body.message
  }

  /** Changed after the wallet signed it, or before. */
  async function changed(change: Record<string, unknown>, resign: boolean): Promise<string> {
    const asked = await ask()
    const payload = { ...parseSIWxHeader(await headerFor(asked, buyer.account)), ...change }
    if (!resign) return encodeSIWxHeader(payload)
    const { address, signature: _, ...info } = payload
    return encodeSIWxHeader(await createSIWxPayload(info, buyer.account, payload.uri))
  }

  test('for another job', async () => {
    const second = await payFor(market, buyer, { path: `/v1/services/${work.id}/purchase`, body: { text: 'two' } })
    expect(await refused(await headerFor(await ask(), buyer.account), `/v1/jobs/${second.body.job_id}`)).toMatch(/URI/)
    expect(await refused(await headerFor(await ask(), buyer.account), '/v1/jobs')).toMatch(/URI/)
  })

  test('for another host, though the wallet signed it', async () => {
    const uri = `http://elsewhere.test${path()}`
    expect(await refused(await changed({ domain: 'elsewhere.test', uri, resources: [uri] }, true))).toMatch(/URI/)
    expect(await refused(await changed({ domain: 'elsewhere.test' }, false))).toMatch(/host/)
  })

  test('with a nonce that somebody made up, or that was given for another time', async () => {
    expect(await refused(await changed({ nonce: 'a'.repeat(32) }, true))).toMatch(/nonce/)
    expect(await refused(await changed({ nonce: '' }, false))).toMatch(/nonce/)
    const issuedAt = new Date(Date.now() - 1).toISOString()
    expect(await refused(await changed({ issuedAt }, true))).toMatch(/nonce/)
  })

  test('a second time, so that a header that was read on its way opens nothing', async () => {
    const asked = await ask()
    expect(challengeOf(asked).info.nonce).toMatch(/^[0-9a-f]{32}$/)
    const header = await headerFor(asked, buyer.account)
    const both = await Promise.all([signedRead(path(), header), signedRead(path(), header)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 401])
    expect(await refused(header)).toMatch(/already used/)
  })

  test('after five minutes, so that a header that leaked is soon worth nothing', async () => {
    const header = await headerFor(await ask(), buyer.account)
    wallOffset = 5 * MINUTE_MS - 30_000
    expect((await signedRead(path(), header)).status).toBe(200)
    wallOffset = 0
    const late = await headerFor(await ask(), buyer.account)
    wallOffset = 5 * MINUTE_MS + 1_000
    expect(await refused(late)).toMatch(/within/)
  })

  test('before it was given, on a clock that went back', async () => {
    const header = await headerFor(await ask(), buyer.account)
    wallOffset = -MINUTE_MS
    expect(await refused(header)).toMatch(/within/)
  })

  test('of another wallet, chain or kind of signature', async () => {
    expect(await refused(await changed({ address: other.account.address }, false))).toMatch(/signature/)
    expect(await refused(await changed({ signature: '0x00' }, false))).toMatch(/signature/)
    expect(await refused(await changed({ chainId: 'eip155:1' }, true))).toMatch(/chain/)
    expect(await refused(await changed({ signatureScheme: 'eip1271' }, false))).toMatch(/another chain/)
  })

  test('with words in it that were not in the challenge', async () => {
    expect(await refused(await changed({ statement: 'I give everything away.' }, true))).toMatch(/challenge/)
    expect(await refused(await changed({ requestId: 'more' }, true))).toMatch(/challenge/)
    expect(await refused(await changed({ expirationTime: '2999-01-01T00:00:00.000Z' }, true))).toMatch(/challenge/)
  })

  test.each([
    ['no base64', '%%%'],
    ['no JSON', Buffer.from('{').toString('base64')],
    ['no object', toBase64([1])],
    ['too long', 'A'.repeat(10_000)],
    ['too deep', Buffer.from(`${'['.repeat(100)}${']'.repeat(100)}`).toString('base64')],
  ])('that is %s', async (_, header) => {
    await refused(header)
  })

  test('given by the daemon before it was started again', async () => {
    const header = await headerFor(await ask(), buyer.account)
    await market.restart()
    expect(await refused(header)).toMatch(/URI|nonce/) // another port, or else another secret
  })
})

test('a key that comes along is checked first', async () => {
  const header = await headerFor(await market.call('GET', '/v1/jobs'), buyer.account)
  const answer = await market.call('GET', '/v1/jobs', {
    headers: { 'SIGN-IN-WITH-X': header, 'X-API-Key': `sk_${'0'.repeat(40)}` },
  })
  expect([answer.status, answer.body.message]).toEqual([401, 'Unknown API key.'])
})

test('rows that do not take it do not look at it', async () => {
  const header = await headerFor(await market.call('GET', '/v1/jobs'), buyer.account)
  const answer = await market.call('GET', '/v1/balance', { headers: { 'SIGN-IN-WITH-X': header } })
  expect([answer.status, answer.body.extensions]).toEqual([401, undefined])
})
