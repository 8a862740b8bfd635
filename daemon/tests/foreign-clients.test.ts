import { runInNewContext } from 'node:vm'
import { x402Client } from '@x402/core/client'
import type { ClientEvmSigner } from '@x402/evm'
import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { soundBooks } from '../../fixtures/kit/money.ts'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { load as outside } from '../../fixtures/outside/load.ts'
import { withoutV2 } from '../../fixtures/payments/x402-buyer.ts'
import { type LocalToken, publishedClients } from '../../src/api/endpoint/x402.ts'
import { checksumAddress, type Hex, toWallet } from '../../src/core/hex.ts'

let market: Marketplace
let token: LocalToken
beforeAll(async () => {
  market = await openMarketplace()
  const { asset, network } = market.daemon.ctx.chain
  token = { asset: checksumAddress(asset.address), network, url: market.url() }
})
afterAll(async () => {
  await soundBooks(market)
  await market.close()
})

type Key = { readonly secret: Hex; readonly account: PrivateKeyAccount }
/** What every client comes to: a POST that pays when it is asked to. */
type Post = (
  path: string,
  body: unknown,
  headers?: Record<string, string>,
) => Promise<{ status: number; data: unknown }>
type Make = (key: Key, isTold: boolean) => Promise<Post>

/** The switch of a client, run as its users would write it; nothing else is known of the sandbox. */
function told(name: string, scope: Record<string, unknown>): unknown {
  const allow = publishedClients.find((client) => client.name === name)?.allow
  if (!allow) throw new Error(`${name} needs no switch`)
  return runInNewContext(allow(token), scope)
}

const byFetch =
  (paying: typeof fetch): Post =>
  async (path, body, headers = {}) => {
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
    const answer = await paying(`${market.url()}${path}`, init)
    return { status: answer.status, data: await answer.json() }
  }

const signerOf = (account: PrivateKeyAccount) => account as unknown as ClientEvmSigner // the published type takes records where the account is generic

const coreFetch =
  (version: 1 | 2): Make =>
  async ({ account }, isTold) => {
    const client = new x402Client()
    registerExactEvmScheme(client, { signer: signerOf(account) })
    if (isTold) told('@x402/fetch', { client })
    return byFetch(wrapFetchWithPayment(version === 2 ? fetch : withoutV2(fetch), client) as typeof fetch)
  }

const makers: Readonly<Record<string, Make>> = {
  '@x402/fetch as v2': coreFetch(2),
  '@x402/fetch as v1': coreFetch(1),
  '@x402/axios': async ({ account }) => {
    const [{ default: axios }, { wrapAxiosWithPaymentFromConfig }, { ExactEvmScheme }] = [
      await outside('axios'),
      await outside('@x402/axios'),
      await outside('@x402/evm'),
    ]
    const schemes = [{ network: 'eip155:8453' as const, client: new ExactEvmScheme(signerOf(account)) }]
    const api = wrapAxiosWithPaymentFromConfig(axios.create({ baseURL: market.url() }), { schemes })
    return async (path, body, headers = {}) => api.post(path, body, { headers })
  },
  '@faremeter/fetch': async ({ account }, isTold) => {
    const [{ wrap }, { createPaymentHandler }] = [
      await outside('@faremeter/fetch'),
      await outside('@faremeter/payment-evm/exact'),
    ]
    const wallet = {
      chain: { id: 8453, name: 'base' },
      address: account.address,
      account: { signTypedData: (typed: never) => account.signTypedData(typed) }, // generic there, records here
    }
    const handler = isTold
      ? told('@faremeter/payment-evm', { createPaymentHandler, wallet })
      : createPaymentHandler(wallet)
    return byFetch(wrap(fetch, { handlers: [handler] }) as typeof fetch)
  },
  '@dexterai/x402': async ({ secret }) => {
    const { wrapFetch } = await outside('@dexterai/x402/client')
    return byFetch(told('@dexterai/x402', { wrapFetch, fetch, evmPrivateKey: secret }) as typeof fetch)
  },
}

async function funded(): Promise<Key> {
  const secret = generatePrivateKey()
  const account = privateKeyToAccount(secret)
  await market.admin('POST', '/dashboard/api/admin/faucet', { body: { wallet: account.address, amount: '10.00' } })
  return { secret, account }
}

const funds = ({ account }: Key) => market.daemon.ctx.chain.balanceOf(toWallet(account.address))

const work = {
  name: 'Word count',
  description: 'Counts the words of a text.',
  price: '2.00',
  fulfillment_type: 'automated',
  estimated_delivery: '5 minutes',
  category: 'text',
  tags: ['text'],
  input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}

describe.each(Object.entries(makers))('%s, unmodified', (_, make) => {
  test('buys an instant service and pays its price once', async () => {
    const key = await funded()
    const before = await funds(key)
    const post = await make(key, true)
    const path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
    expect(await post(path, { data: 'mine' })).toMatchObject({ status: 200, data: { status: 'completed' } })
    expect(before - (await funds(key))).toBe(10_000n)
  })

  test('registers, lists a service, and delivers what the same client bought of it', async () => {
    const [provider, buyer] = [await make(await funded(), true), await make(await funded(), true)]
    const registered = (await provider('/v1/register', { name: 'a foreigner', type: 'both' })).data as {
      api_key: string
    }
    const key = { 'X-API-Key': registered.api_key }
    const listed = (await provider('/v1/services', work, key)).data as { id: string }
    const bought = await buyer(`/v1/services/${listed.id}/purchase`, { text: 'one two' })
    expect(bought).toMatchObject({ status: 200, data: { status: 'dispatched' } })
    const { job_id, access_token } = bought.data as { job_id: string; access_token: string }
    const open = await market.call('GET', '/v1/jobs?role=provider&status=dispatched', { headers: key })
    expect(open.body.jobs).toMatchObject([{ id: job_id }])
    const update = { status: 'completed', deliverables: [{ words: 2 }] }
    expect((await provider(`/v1/jobs/${job_id}/update`, update, key)).status).toBe(200)
    const read = await market.call('GET', `/v1/jobs/${job_id}`, {
      headers: { Authorization: `Bearer ${access_token}` },
    })
    expect(read.body).toMatchObject({ status: 'verified', deliverables: [{ words: 2 }] })
  })
})

test.each(['@x402/fetch as v2', '@x402/fetch as v1', '@faremeter/fetch'])(
  '%s pays nothing before it is told of the token',
  async (name) => {
    const key = await funded()
    const before = await funds(key)
    const post = await (makers[name] as Make)(key, false)
    await expect(post('/v1/register', { name: 'a foreigner', type: 'both' })).rejects.toThrow()
    expect(await funds(key)).toBe(before)
  },
)

describe('what stops a published client is told before it stops', () => {
  const allowed = () => publishedClients.flatMap(({ allow }) => (allow ? [allow(token)] : []))

  test('in the first 402 of both generations, with the real token and address', async () => {
    const { headers, body } = await market.call('POST', '/v1/register')
    const required = JSON.parse(Buffer.from(headers.get('PAYMENT-REQUIRED') as string, 'base64').toString())
    for (const error of [body.error, required.error]) {
      for (const line of allowed()) expect(error).toContain(line)
    }
    for (const { extra } of [body.accepts[0], required.accepts[0]]) {
      expect(extra).toEqual({
        name: expect.any(String),
        version: expect.any(String),
        decimals: 6,
        primaryType: 'TransferWithAuthorization',
      })
    }
  })

  test('a price above the limits of clients is named with those limits, a low one is not', async () => {
    const provider = await newProvider()
    const listed = (await provider.post('/v1/services', { ...work, price: '5.00' }, provider.key)).data as {
      id: string
    }
    const dear = await market.call('POST', `/v1/services/${listed.id}/purchase`)
    expect(dear.body.error).toMatch(/5\.\d+ USDC.*@x402\/fetch at 1\.00; x402-fetch at 0\.10 USDC/)
    expect((await market.call('POST', '/v1/discover')).body.error).not.toMatch(/limit/)
  })

  test('in the guide for agents and in the reference', async () => {
    const [guide, reference] = [await market.call('GET', '/llms.txt'), await market.call('GET', '/openapi.json')]
    for (const line of allowed()) {
      expect(guide.text).toContain(line)
      expect(reference.body.info.description).toContain(line)
    }
  })

  test('after a refused payment the reason stands alone, as programs read it', async () => {
    const refused = await market.call('POST', '/v1/register', { headers: { 'X-PAYMENT': 'bm90aGluZw==' } })
    expect([refused.status, refused.body.error]).toEqual([402, 'invalid_payload'])
  })
})

async function newProvider() {
  const post = await coreFetch(2)(await funded(), true)
  const { api_key } = (await post('/v1/register', { name: 'a provider', type: 'provider' })).data as { api_key: string }
  return { post, key: { 'X-API-Key': api_key } }
}
