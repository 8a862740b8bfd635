import { randomBytes } from 'node:crypto'
import { encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runOf } from '../../../fixtures/kit/crash.ts'
import { balanceOfAccount, fund, soundBooks } from '../../../fixtures/kit/money.ts'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { startTestChain, type TestChain } from '../../ports/chain/evm/anvil/anvil.testkit.ts'
import { testChainFlags } from '../../ports/chain/evm/evm.testkit.ts'
import { commit } from '../../store/draw.ts'
import { account } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { coldSweep } from './cold-sweep.ts'

/*
 * Money that comes back from the cold address on a real chain, as a wallet sends it.
 * @slow starts a chain
 */

const ETHER = 10n ** 18n
const hotCeiling = usdc(5_000_000n)
const coldAddress = `0x${randomBytes(20).toString('hex')}` as Wallet
let chain: TestChain
let market: Marketplace
beforeAll(async () => {
  chain = await startTestChain(testChainFlags)
  const config = { chain: 'devnet', chainSetup: { rpcUrls: [chain.url] }, coldAddress, hotCeiling } as const
  market = await openMarketplace(config, { ticker: noTicks })
})
afterAll(async () => {
  await market?.close()
  await chain?.stop()
})

const ctx = () => market.daemon.ctx
const sweep = () => runOf(coldSweep, ctx())
const cold = () => balanceOfAccount(market, account.cold)

async function sendBack(amount: bigint): Promise<void> {
  const { client } = chain
  const { asset, payTo } = ctx().chain
  await client.setBalance({ address: coldAddress, value: ETHER })
  await client.impersonateAccount({ address: coldAddress })
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payTo, amount] })
  const sent = await client.sendTransaction({ account: coldAddress, to: asset.address, data, chain: null })
  await chain.mined(sent)
}

test('what the cold address sends back is in the books after the next sweep, once, and the audit is clean', async () => {
  const amount = usdc(9_000_000n)
  await fund(ctx().chain, amount, ctx().clock.wall())
  const legs = [{ from: account.ext, to: account.oper, amount }]
  const entry = { kind: 'deposit', ref: { kind: 'test', id: 'own' }, legs, at: ctx().clock.now() } as const
  await commit(ctx(), (t, draw) => post(t, draw, entry))
  await sweep()
  expect([await ctx().chain.balanceOf(coldAddress), await cold()]).toEqual([4_000_000n, -4_000_000n])
  await soundBooks(market)

  await sendBack(600_000n)
  await sendBack(300_000n)
  await sweep()
  await sweep()
  expect(await cold()).toBe(-3_100_000n)
  await soundBooks(market)

  await sendBack(1_000_000n)
  await sweep()
  expect([await ctx().chain.balanceOf(coldAddress), await cold()]).toEqual([4_000_000n, -4_000_000n])
  await soundBooks(market)
})
