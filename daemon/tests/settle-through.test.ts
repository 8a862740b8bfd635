import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createWalletClient, http, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openPayments, soundBooks } from '../../fixtures/kit/money.ts'
import { type Buyer, type Marketplace, openMarketplace, signPayment } from '../../fixtures/market/marketplace.ts'
import { checksumAddress, type Hex, type Wallet } from '../../src/core/hex.ts'
import { usdc } from '../../src/core/money.ts'
import { payments } from '../features/payments/rows.ts'
import { recoverPayments } from '../features/payments/settle.ts'
import { accountAt, startTestChain, type TestChain } from '../ports/chain/evm/anvil/anvil.testkit.ts'
import { contracts } from '../ports/chain/evm/contracts/artifacts.testkit.ts'
import { type EvmBench, openEvmBench, testChainFlags } from '../ports/chain/evm/evm.testkit.ts'
import { transferCall } from '../ports/chain/evm/queue/calldata.ts'
import { chainTransfers } from '../ports/chain/evm/queue/rows.ts'
import { type ForeignAsk, foreignTimings, openForeignFacilitator } from '../ports/chain/evm/through/facilitator.ts'
import { settledThrough } from '../ports/chain/evm/through/settle.ts'

// @slow payments through a facilitator, on a real chain

const PRICE = 10_000n
const RICH = '0x56bc75e2d63100000'
const body = { data: 'mine' }

type Handler = (ask: ForeignAsk, res: ServerResponse, req: IncomingMessage) => Promise<void> | void

let testChain: TestChain
let bench: EvmBench
let market: Marketplace
let path: string
let server: Server
let address: string
/** What the facilitator of the test does when it is asked to settle. */
let onSettle: Handler
let onVerify: Handler
let asked: { verify: number; settle: number; elsewhere: number }
const says = (res: ServerResponse, said: object, status = 200) =>
  void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
const valid: Handler = (_, res) => says(res, { isValid: true })
const success = { success: true, transaction: `0x${'12'.repeat(32)}`, network: 'eip155:8453', payer: '0x' }

const names: Readonly<Record<string, 'verify' | 'settle'>> = { '/f/verify': 'verify', '/f/settle': 'settle' }
const answers: Readonly<Record<'verify' | 'settle' | 'elsewhere', Handler>> = {
  verify: (...given) => onVerify(...given),
  settle: (...given) => onSettle(...given),
  elsewhere: (_, res) => says(res, success),
}

beforeAll(async () => {
  server = createServer(async (req, res) => {
    const network = req.url === '/f/supported' ? 'eip155:8453' : 'eip155:1'
    if (req.method === 'GET') {
      says(res, { kinds: [{ x402Version: 2, scheme: 'exact', network }], extensions: [], signers: {} })
      return
    }
    const ask = (await json(req)) as ForeignAsk
    const name = names[req.url ?? ''] ?? 'elsewhere'
    asked[name] += 1
    await answers[name](ask, res, req)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  address = `http://127.0.0.1:${port}`
  const facilitator = openForeignFacilitator(`${address}/f/`, { ...foreignTimings, settleMs: 2_000 })
  testChain = await startTestChain(testChainFlags)
  market = await openMarketplace(
    {},
    {
      chain: async () => {
        bench = await openEvmBench(testChain)
        const { chain } = bench
        return settledThrough({
          ...{
            chain,
            queue: chain.queue,
            facilitator,
            wall: Date.now,
            instantLimit: usdc(100_000_000n),
            blockOf: async () => 0,
          },
          log: { warn: () => undefined },
          timings: { yes: 300, no: 100, none: 300 },
        })
      },
    },
  )
  path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
})
afterAll(async () => {
  await market.close()
  await bench.close()
  await testChain.stop()
  server.closeAllConnections()
  server.close()
})

const fresh = async () => {
  asked = { verify: 0, settle: 0, elsewhere: 0 }
  onVerify = valid
  const buyer = await funded()
  const header = await signPayment(buyer.account, await market.call('POST', path, { body }), { version: 2 })
  return { buyer, buy: () => market.call('POST', path, { body, headers: header }) }
}

async function funded(): Promise<Pick<Buyer, 'account' | 'wallet'>> {
  const account = privateKeyToAccount(generatePrivateKey())
  const wallet = account.address.toLowerCase() as Wallet
  await bench.fund(wallet, 3n * PRICE)
  return { account, wallet }
}

/** Moves the money as anybody may who has the signed bytes. */
async function move({ paymentPayload }: ForeignAsk, token = bench.deployment.asset, rpc = bench.rpc): Promise<void> {
  const { payload } = paymentPayload as { payload: { signature: Hex; authorization: Record<string, string> } }
  const { from, to, nonce, ...numbers } = payload.authorization as Record<string, Hex>
  const data = transferCall(
    {
      from: from as Wallet,
      to: to as Wallet,
      nonce: nonce as Hex,
      value: BigInt(numbers['value'] ?? 0),
      validAfter: BigInt(numbers['validAfter'] ?? 0),
      validBefore: BigInt(numbers['validBefore'] ?? 0),
    },
    payload.signature,
  )
  await rpc('eth_sendTransaction', { from: accountAt(0), to: token, data, gas: '0x30d40' })
}

async function paid(wallet: Wallet): Promise<bigint> {
  return 3n * PRICE - (await bench.chain.balanceOf(wallet))
}

describe('a facilitator of somebody else', () => {
  afterEach(async () => {
    await soundBooks(market)
  })

  const acted: readonly [string, Handler][] = [
    ['says so', (_, res) => says(res, success)],
    ['says that it failed', (_, res) => says(res, { success: false, errorReason: 'invalid_transaction_state' })],
    ['hangs up', (_, res) => void res.destroy()],
    ['answers 500', (_, res) => says(res, {}, 500)],
    ['answers with no JSON', (_, res) => void res.end('<html>')],
    ['names another amount and network', (_, res) => says(res, { ...success, amount: '1', network: 'solana' })],
    ['never answers', () => undefined],
  ]
  test.each(acted)('that moved the money and %s: the buyer is served, and pays once', async (_, answer) => {
    const { buyer, buy } = await fresh()
    onSettle = async (ask, res, req) => {
      await move(ask)
      await answer(ask, res, req)
    }
    const first = await buy()
    expect([first.status, await paid(buyer.wallet)]).toEqual([200, PRICE])
    const again = await buy()
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([200, 'true'])
    expect([asked.settle, await paid(buyer.wallet)]).toEqual([1, PRICE])
    expect(await openPayments(market)).toEqual([])
  })

  const idle: readonly [string, Handler][] = [
    ['says that it did', (_, res) => says(res, success)],
    ['says no', (_, res) => says(res, { success: false, errorReason: 'unexpected_settle_error', transaction: '' })],
    ['hangs up', (_, res) => void res.destroy()],
    ['answers 502 with a page', (_, res) => void res.writeHead(502).end('<html>')],
    ['answers 429', (_, res) => says(res, {}, 429)],
    ['sends a redirect', (_, res) => void res.writeHead(307, { location: '/f/elsewhere' }).end()],
    ['sends more than any answer has', (_, res) => void res.end(`{"success":true,"x":"${'x'.repeat(400_000)}"}`)],
    ['sends another shape', (_, res) => says(res, { success: 'true' })],
    ['never answers', () => undefined],
  ]
  test.each(idle)(
    'that moved nothing and %s: nothing is delivered, and the same payment is good later',
    async (_, answer) => {
      const { buyer, buy } = await fresh()
      onSettle = answer
      expect((await buy()).status).toBe(402)
      expect([await paid(buyer.wallet), asked.elsewhere]).toEqual([0n, 0])
      // It stays open: whoever has the signed bytes may send them until their window closes.
      expect(await openPayments(market)).toHaveLength(1)
      onSettle = async (ask, res) => {
        await move(ask)
        says(res, success)
      }
      expect((await buy()).status).toBe(200)
      expect(await paid(buyer.wallet)).toBe(PRICE)
      expect(await openPayments(market)).toEqual([])
    },
  )

  test('that refuses at once is not asked to settle; what it moves later all the same is delivered once', async () => {
    const { buyer, buy } = await fresh()
    let given: ForeignAsk | undefined
    onVerify = (ask, res) => {
      given = ask
      says(res, { isValid: false, invalidReason: 'invalid_payment_requirements' })
    }
    expect((await buy()).status).toBe(402)
    expect(asked.settle).toBe(0)
    await move(given as ForeignAsk)
    await recoverPayments(market.daemon.ctx)
    expect(await openPayments(market)).toEqual([])
    const answer = await buy()
    expect([answer.status, answer.headers.get('Idempotency-Replayed')]).toEqual([200, 'true'])
    expect(await paid(buyer.wallet)).toBe(PRICE)
  })

  test('that does not settle is named in the status of the chain', async () => {
    const { buy } = await fresh()
    onSettle = (_, res) => says(res, { success: false, errorReason: 'out_of_gas' })
    await buy()
    const faults = market.daemon.ctx.chain.status?.().faults ?? []
    expect(faults.map(({ sentence }) => sentence).join()).toMatch(
      /facilitator at 127\.0\.0\.1:\d+ does not settle: out_of_gas/,
    )
  })

  test('as it is published settles our sales with its own gas; ours is not used', async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    await bench.rpc('anvil_setBalance', account.address, RICH)
    const client = createWalletClient({ account, chain: base, transport: http(testChain.url) }).extend(publicActions)
    const published = new x402Facilitator().register(
      'eip155:8453',
      new ExactEvmScheme(toFacilitatorEvmSigner({ ...client, address: account.address } as never)), // the two clients in one
    )
    const { buyer, buy } = await fresh()
    onVerify = async (ask, res) =>
      says(res, await published.verify(ask.paymentPayload as never, ask.paymentRequirements as never)) // as it came
    onSettle = async (ask, res) =>
      says(res, await published.settle(ask.paymentPayload as never, ask.paymentRequirements as never)) // as it came
    const nonceOf = (wallet: string) => bench.rpc('eth_getTransactionCount', wallet, 'latest')
    const before = await nonceOf(bench.keys.gas.address)
    expect((await buy()).status).toBe(200)
    expect([await paid(buyer.wallet), (await bench.chain.balanceOf(bench.chain.payTo)) > 0n]).toEqual([PRICE, true])
    expect([await nonceOf(account.address), await nonceOf(bench.keys.gas.address)]).toEqual(['0x1', before])
  })
})

describe('a chain that drops what a facilitator had sent', () => {
  let other: Marketplace
  let real: EvmBench
  let chain: TestChain
  let ahead = 0
  beforeAll(async () => {
    chain = await startTestChain([...testChainFlags, '--slots-in-an-epoch', '4'])
    const facilitator = openForeignFacilitator(`${address}/f/`, { ...foreignTimings, settleMs: 2_000 })
    const timings = { pollMs: 20, followMs: 100, resendMs: 300, reversalGraceMs: 0 }
    const change = { mode: 'base', timings, wall: () => Date.now() + ahead } as const
    other = await openMarketplace(
      {},
      {
        chain: async () => {
          if (real) await real.reopen()
          else real = await openEvmBench(chain, { change })
          const { queue } = real.chain
          return settledThrough({
            ...{ chain: real.asTest(), queue, facilitator, wall: change.wall, instantLimit: usdc(100_000_000n) },
            blockOf: async () => 0,
            log: { warn: () => undefined },
            timings: { yes: 300, no: 100, none: 300 },
          })
        },
      },
    )
  })
  afterAll(async () => {
    await other.close()
    await real.close()
    await chain.stop()
  })

  const stateOf = async (wallet: Wallet) => {
    const { rows } = await other.daemon.ctx.store.table(payments).page('payer', [wallet], { limit: 1 })
    return rows[0]?.state
  }
  const patience = { interval: 100 }

  /** A sale that the facilitator settled; then the block of that is undone. */
  async function dropped(): Promise<Buyer> {
    asked = { verify: 0, settle: 0, elsewhere: 0 }
    onVerify = valid
    onSettle = async (ask, res) => {
      await move(ask, real.deployment.asset, real.rpc)
      says(res, success)
    }
    const buyer = await other.buyer('1.00')
    await chain.client.mine({ blocks: 10 })
    const to = `/v1/services/${await other.serviceId('qr_code')}/purchase`
    const headers = await signPayment(buyer.account, await other.call('POST', to, { body }))
    expect((await other.call('POST', to, { body, headers })).status).toBe(200)
    expect([asked.settle, await real.chain.balanceOf(buyer.wallet)]).toEqual([1, 1_000_000n - PRICE])
    return buyer
  }
  const reorg = () => chain.client.request({ method: 'anvil_reorg', params: [1, []] } as never)

  test('has it sent again by the facilitator, also by a daemon that was down meanwhile', async () => {
    const buyer = await dropped()
    await other.daemon.stop()
    await real.close()
    await reorg()
    expect(
      await chain.read({ address: real.deployment.asset, abi: contracts.testToken.abi }, 'balanceOf', [buyer.wallet]),
    ).toBe(1_000_000n)
    await other.restart()
    await expect.poll(() => real.chain.balanceOf(buyer.wallet), patience).toBe(1_000_000n - PRICE)
    expect([asked.settle, real.chain.status().reversed]).toEqual([2, 0])
    expect(await stateOf(buyer.wallet)).toBe('fulfilled')
    await chain.client.mine({ blocks: 10 })
    await expect.poll(() => real.store.table(chainTransfers).count('watched', []), patience).toBe(0)
    await soundBooks(other)
  })

  test('has it sent by us where the facilitator does not', async () => {
    const buyer = await dropped()
    onSettle = (_, res) => says(res, { success: false, errorReason: 'out_of_gas' })
    await reorg()
    await expect.poll(() => real.chain.balanceOf(buyer.wallet), patience).toBe(1_000_000n - PRICE)
    expect([await stateOf(buyer.wallet), real.chain.status().reversed]).toEqual(['fulfilled', 0])
    await soundBooks(other)
  })

  test('books it as undone where its window has closed', async () => {
    const buyer = await dropped()
    ahead = 3_600_000
    await reorg()
    await expect.poll(() => stateOf(buyer.wallet), patience).toBe('reversed')
    expect(await real.chain.balanceOf(buyer.wallet)).toBe(1_000_000n)
  })
})

test('a facilitator over a chain names who sends for it', async () => {
  const { body: told } = await market.call('GET', '/facilitator/supported')
  expect(told.signers).toEqual({ 'eip155:*': [checksumAddress(bench.keys.gas.address)] })
})

describe('--settle-through', () => {
  const chosen = (settleThrough: string) =>
    openMarketplace({ chain: 'devnet', chainSetup: { rpcUrls: [testChain.url], settleThrough } })

  test('of a facilitator that is not on this chain is refused at the start, in one sentence', async () => {
    await expect(chosen(`${address}/elsewhere`)).rejects.toThrow(
      /^The facilitator at 127\.0\.0\.1:\d+ does not settle on eip155:8453: use another --settle-through, or omit it\.$/,
    )
  })

  test('sells through it from the first start', async () => {
    const other = await chosen(`${address}/f`)
    try {
      const buyer = await other.buyer('1.00')
      const to = `/v1/services/${await other.serviceId('qr_code')}/purchase`
      const { asset } = other.daemon.ctx.chain
      asked = { verify: 0, settle: 0, elsewhere: 0 }
      onVerify = valid
      onSettle = async (ask, res) => {
        await move(ask, asset.address)
        says(res, success)
      }
      const headers = await signPayment(buyer.account, await other.call('POST', to, { body }))
      expect((await other.call('POST', to, { body, headers })).status).toBe(200)
      expect([asked.settle, await other.daemon.ctx.chain.balanceOf(buyer.wallet)]).toEqual([1, 1_000_000n - PRICE])
      await soundBooks(other)
    } finally {
      await other.close()
    }
  })
})
