import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyAuthorization } from '../../daemon/features/payments/order.ts'
import { openSandboxChain } from '../../daemon/ports/chain/sandbox/chain.ts'
import { sandboxCollections } from '../../daemon/ports/chain/sandbox/ledger.ts'
import { openRecover } from '../../daemon/ports/chain/signature.ts'
import { openMemoryStore } from '../../daemon/store/memory/open.testkit.ts'
import { buyerFetch } from '../../fixtures/payments/x402-buyer.ts'
import { chooseOffer, readPaymentResponse } from '../client/pay.ts'
import type { PaymentRequirement } from '../core/authorization.ts'
import { checksumAddress, type Hex, toWallet } from '../core/hex.ts'
import { paymentWindows } from '../core/limits.ts'
import { usdc } from '../core/money.ts'
import { unixSeconds } from '../core/time.ts'
import { paymentRequired, paymentResponse, x402ExposedHeaders, x402Headers } from './endpoint/x402.ts'
import { type ReadHeader, readPaymentHeader } from './endpoint/x402-header.ts'

const PRICE = usdc(525_000n)
const account = privateKeyToAccount(`0x${'51'.repeat(32)}`)
const wallet = toWallet(account.address)

const recover = await openRecover()
const store = openMemoryStore([...sandboxCollections])
const chain = await openSandboxChain({ store, recover, entropy: randomBytes, wall: () => Date.now() })
const requirement: PaymentRequirement = {
  price: PRICE,
  payTo: chain.payTo,
  asset: chain.asset.address,
  network: chain.network,
  domain: { name: chain.asset.name, version: chain.asset.version },
  maxTimeoutSeconds: paymentWindows.first.maxTimeoutSeconds,
}

let server: Server
let origin: string

beforeAll(async () => {
  await chain.faucet({ wallet, amount: usdc(100_000_000n), nowMs: Date.now() })
  // A listener of node:http answers by itself; a rejection would end the test run with its reason.
  server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await store.close()
})

/** The smallest seller: a dual 402, then verification and settlement with our code. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const read = readPayment(request)
  if (!read?.ok) return send(response, 402, {})
  const { credential } = read
  const { authorization, signature, version } = credential
  const facts = {
    wallNowSeconds: unixSeconds(Date.now()),
    marginSeconds: paymentWindows.first.marginSeconds,
    signer: recover(chain.digestOf(authorization), signature) ?? null,
    funds: await chain.balanceOf(authorization.from),
    openReservations: 0n,
  }
  const verdict = verifyAuthorization({ credential, requirement, facts })
  if (!verdict.ok) return send(response, 402, { fault: verdict.fault })
  const settled = await chain.settle(authorization, signature)
  if (!settled.ok) return send(response, 402, { fault: 'settlement_failed' })
  const { transaction } = settled
  const { name, value } = paymentResponse(version, {
    success: true,
    transaction,
    network: 'base',
    payer: authorization.from,
  })
  response.setHeader(name, value)
  response.end(JSON.stringify({ version, transaction }))
}

function readPayment(request: IncomingMessage): ReadHeader | undefined {
  const v1 = request.headers[x402Headers.paymentV1.toLowerCase()]
  const v2 = request.headers[x402Headers.paymentV2.toLowerCase()]
  if (typeof v2 === 'string') return readPaymentHeader(2, v2)
  return typeof v1 === 'string' ? readPaymentHeader(1, v1) : undefined
}

function send(
  response: ServerResponse,
  status: number,
  fault: Pick<Parameters<typeof paymentRequired>[0], 'fault'>,
): void {
  const { body, header } = paymentRequired({
    ...requirement,
    ...fault,
    resource: `${origin}/v1/discover`,
    description: 'A priced call – ein Test',
    mimeType: 'application/json',
  })
  response.statusCode = status
  response.setHeader('Content-Type', 'application/json')
  response.setHeader('Access-Control-Expose-Headers', x402ExposedHeaders.join(', '))
  response.setHeader(x402Headers.requiredV2, header)
  response.end(JSON.stringify({ ...body, code: 'payment_required', request_id: 'req_0123456789abcdef' }))
}

const assetCap = { asset: checksumAddress(chain.asset.address), maxAtomic: '1000000' }

test.each([
  { version: 1, responseHeader: 'X-PAYMENT-RESPONSE' },
  { version: 2, responseHeader: 'PAYMENT-RESPONSE' },
] as const)('the published client pays as v$version and the money moves once', async ({ version, responseHeader }) => {
  const before = await chain.balanceOf(chain.payTo)
  const response = await buyerFetch({ account, version, assetCap })(`${origin}/v1/discover`)
  expect(response.status).toBe(200)
  const { transaction, ...rest } = (await response.json()) as { version: number; transaction: Hex }
  expect(rest.version).toBe(version)
  expect(response.headers.get(responseHeader)).not.toBeNull()
  expect(readPaymentResponse(response.headers)).toEqual({
    success: true,
    transaction,
    network: version === 1 ? 'base' : 'eip155:8453',
    payer: account.address,
  })
  expect((await chain.balanceOf(chain.payTo)) - before).toBe(PRICE)
})

test('the published client stops at its limit for the asset', async () => {
  const before = await chain.balanceOf(wallet)
  const careful = buyerFetch({ account, version: 2, assetCap: { ...assetCap, maxAtomic: '524999' } })
  await expect(careful(`${origin}/v1/discover`)).rejects.toThrow()
  expect(await chain.balanceOf(wallet)).toBe(before)
})

test('the published client refuses the sandbox asset until it is told of it', async () => {
  const untold = buyerFetch({ account, version: 2, assetCap: undefined })
  await expect(untold(`${origin}/v1/discover`)).rejects.toThrow(/asset|spend/i)
})

test('a poor wallet is told so, with an offer to pay again', async () => {
  const poor = privateKeyToAccount(`0x${'53'.repeat(32)}`)
  const response = await buyerFetch({ account: poor, version: 1, assetCap })(`${origin}/v1/discover`)
  expect(response.status).toBe(402)
  expect(await response.json()).toMatchObject({ x402Version: 1, error: 'insufficient_funds', accepts: [{}] })
})

test('our own client pays the same server', async () => {
  const unpaid = await fetch(`${origin}/v1/discover`)
  const chosen = chooseOffer(
    { status: unpaid.status, headers: unpaid.headers, body: await unpaid.json() },
    { maxPrice: usdc(1_000_000n), network: 'sandbox', allowedAssets: [chain.asset.address] },
  )
  if (!chosen.ok) throw new Error(chosen.message)
  const nonce = `0x${randomBytes(32).toString('hex')}` as const
  const paid = await chosen.sign({ account, nonce, nowSeconds: unixSeconds(Date.now()) })
  const response = await fetch(`${origin}/v1/discover`, { headers: paid.headers })
  expect(response.status).toBe(200)
  expect(readPaymentResponse(response.headers)).toMatchObject({ success: true })
})
