import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChainMarket, openChainMarket } from '../../fixtures/kit/chain-market.testkit.ts'
import { soundBooks } from '../../fixtures/kit/money.ts'
import { signPayment } from '../../fixtures/market/marketplace.ts'
import { DAY_MS } from '../../src/core/time.ts'
import { chainTransfers, chainTxs } from '../ports/chain/evm/queue/rows.ts'

// @slow starts a chain

const CHAIN = '/dashboard/api/admin/chain'
const patience = { interval: 200 }

let opened: ChainMarket
let second: ChainMarket['node']
let bench: ChainMarket['bench']
let market: ChainMarket['market']
let buy: ChainMarket['buy']

beforeAll(async () => {
  opened = await openChainMarket({
    urls: (chain, node) => [node.url, chain],
    change: { timings: { followMs: 100, keepMs: 0 } },
  })
  ;({ node: second, bench, market, buy } = opened)
})
afterAll(() => opened.close())

const chainOf = async (query = '') => (await market.admin('GET', `${CHAIN}${query}`)).body
const chainItems = async () => {
  const { items } = (await market.admin('GET', '/dashboard/api/admin/attention')).body
  return items.filter(({ kind }: { kind: string }) => kind === 'chain')
}

async function paid(): Promise<string> {
  const buyer = await market.buyer('1.00')
  const answer = await buy(await signPayment(buyer.account, await buy()))
  expect(answer.status).toBe(200)
  const receipt = answer.headers.get('X-PAYMENT-RESPONSE') ?? ''
  return JSON.parse(Buffer.from(receipt, 'base64').toString()).transaction
}

test('health, the row of the chain and the metrics tell its head, nodes, queue and gas', async () => {
  const transaction = await paid()
  const health = (await market.call('GET', '/health')).body
  expect(health.chain).toMatchObject({ mode: 'devnet', health: 'ok', lag_blocks: 0, nodes: { up: 2, down: 0 } })
  expect(health.chain.head.block).toBeGreaterThan(0)
  expect(health.chain.gas_payments).toBeGreaterThan(100)
  const told = await chainOf()
  expect(told).toMatchObject({ health: 'ok', faults: [], books: { ok: true }, queue: { reversed: 0, failed: 0 } })
  expect(told.gas_key.address.toLowerCase()).toBe(bench.keys.gas.address)
  expect(JSON.stringify(told)).not.toContain('private')
  for (const id of [transaction, transaction.toUpperCase().replace('0X', '0x')]) {
    const { transactions } = await chainOf(`?tx=${id}`)
    expect(transactions).toMatchObject([
      { what: 'payments', transfers: 1, amount: '0.01', ok: true, mined: transaction },
    ])
    expect(transactions[0].items).toMatchObject([{ amount: '0.01', state: 'moved' }])
    const [byNonce] = (await chainOf(`?tx=${transactions[0].nonce}`)).transactions
    expect(byNonce.id).toBe(transactions[0].id)
  }
  const receipt = (await bench.rpc('eth_getTransactionReceipt', transaction)) as Record<string, string>
  const { gasUsed = '', effectiveGasPrice: price = '' } = receipt
  const { acts, gas_wei: all } = (await market.admin('GET', `${CHAIN}/costs`)).body
  expect(acts[0]).toMatchObject({ act: 'sale', count: 1, wei: String(BigInt(gasUsed) * BigInt(price)) })
  expect(BigInt(all)).toBeGreaterThanOrEqual(BigInt(acts[0].wei))
  expect((await market.admin('GET', `${CHAIN}?tx=999999`)).status).toBe(404)
  const { text } = await market.admin('GET', '/metrics')
  for (const name of ['txs_total', 'batch_items', 'inclusion_seconds', 'in_flight', 'oldest_seconds', 'rpc_seconds']) {
    expect(text).toContain(`souk_chain_${name}`)
  }
  expect(text).toMatch(/^souk_chain_txs_total\{kind="single",result="sent"\} [1-9]/m)
  expect(text).toMatch(/^souk_chain_gas_used_total [1-9]/m)
  expect(text).toMatch(/^souk_chain_up 1$/m)
})

test('a second node that lags or is gone is told, and payments go on by the other', async () => {
  const behind = { answer: ({ method }: { method: string }) => (method === 'eth_getBlockByNumber' ? old : undefined) }
  const old = { result: await bench.rpc('eth_getBlockByNumber', '0x1', false) }
  second.fault = behind
  await paid()
  await expect
    .poll(async () => (await chainItems()).map(({ id }: { id: string }) => id), patience)
    .toEqual(['chain node_down'])
  second.fault = {}
  second.dead = true
  await paid()
  expect((await chainOf()).nodes.map(({ error }: { error: string | null }) => error === null)).toEqual([false, true])
  second.dead = false
  await soundBooks(market)
})

test('a gas key that is nearly empty waits for the operator before it is', async () => {
  await bench.rpc('anvil_setBalance', bench.keys.gas.address, '0x71afd498d0000')
  await expect
    .poll(async () => (await chainItems()).map(({ id, fix }: { id: string; fix: string }) => [id, fix]), patience)
    .toContainEqual(['chain gas_low', 'souk chain status'])
  await bench.rpc('anvil_setBalance', bench.keys.gas.address, '0x56bc75e2d63100000')
})

test('money that comes or goes beside the books is told as drift', async () => {
  await bench.fund(bench.chain.payTo, 5n)
  await expect
    .poll(async () => (await chainItems()).map(({ id }: { id: string }) => id), { interval: 1_000 })
    .toContain('chain drift')
})

test('final transactions are forgotten once nobody needs them, and calls never', async () => {
  await paid()
  const { store } = bench
  await expect.poll(() => store.table(chainTxs).count('open', [bench.keys.gas.address]), patience).toBe(0)
  const all = await store.table(chainTxs).count('newest', [bench.keys.gas.address])
  const calls = await store.table(chainTxs).count('call', [])
  expect(all).toBeGreaterThan(calls)
  const { sweep } = bench.chain.transactions
  const [young, old] = [Date.now() - DAY_MS, Date.now() + DAY_MS]
  expect(await sweep(young, async () => false)).toBe(0)
  expect(await sweep(old, async () => true)).toBe(0)
  expect(await sweep(old, async () => false)).toBe(all - calls)
  expect(await store.table(chainTxs).count('newest', [bench.keys.gas.address])).toBe(calls)
  const { rows } = await store.table(chainTransfers).page('reversed', [], { limit: 10 })
  expect(rows).toEqual([])
  await paid()
})
