import { encodeAbiParameters, encodeFunctionData, type PrivateKeyAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPayments, soundBooks } from '../../fixtures/kit/money.ts'
import { type Marketplace, openMarketplace, signPayment } from '../../fixtures/market/marketplace.ts'
import { type Hex, toWallet, type Wallet } from '../../src/core/hex.ts'
import { startTestChain, type TestChain } from '../ports/chain/evm/anvil/anvil.testkit.ts'
import { walletContracts } from '../ports/chain/evm/contracts/wallets/artifacts.testkit.ts'
import { type EvmBench, openEvmBench, testChainFlags } from '../ports/chain/evm/evm.testkit.ts'

const body = { data: 'mine' }
const PRICE = 10_000n
const SALT: Hex = `0x${'07'.repeat(32)}`
const SUFFIX = '6492'.repeat(16)

let testChain: TestChain
let bench: EvmBench
let market: Marketplace
let path: string
let factory: Wallet

beforeAll(async () => {
  testChain = await startTestChain(testChainFlags)
  market = await openMarketplace(
    {},
    {
      chain: async () => {
        bench = await openEvmBench(testChain, {
          withSettings: async (deploy) => {
            factory = await deploy(walletContracts.keyWalletFactory)
            return { walletFactories: [factory] }
          },
        })
        return bench.chain
      },
    },
  )
  path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
})
afterAll(async () => {
  await market.close()
  await bench.close()
  await testChain.stop()
})

/** Signs like the key behind a contract wallet, whose signatures have a byte more. */
function accountOf(
  wallet: Wallet,
  key: PrivateKeyAccount,
  wrap = (signature: Hex): Hex => signature,
): PrivateKeyAccount {
  const signTypedData: PrivateKeyAccount['signTypedData'] = async (typed) => wrap(`${await key.signTypedData(typed)}00`)
  return { ...key, address: wallet, signTypedData }
}

const newKey = () => privateKeyToAccount(generatePrivateKey())
const buy = (headers: Record<string, string>) => market.call('POST', path, { body, headers })
const sign = async (account: PrivateKeyAccount, version: 1 | 2 = 1) =>
  signPayment(account, await market.call('POST', path, { body }), { version })

test.each([1, 2] as const)(
  'a contract wallet buys with what its contract takes for its signature, x402 v%i',
  async (version) => {
    const key = newKey()
    const wallet = await bench.deploy(walletContracts.keyWallet, [key.address])
    await bench.fund(wallet, 5n * PRICE)
    const paid = await sign(accountOf(wallet, key), version)
    const first = await buy(paid)
    expect(first.status).toBe(200)
    expect(await bench.chain.balanceOf(wallet)).toBe(4n * PRICE)
    const again = await buy(paid)
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([200, 'true'])
    expect(await bench.chain.balanceOf(wallet)).toBe(4n * PRICE)

    const stranger = await buy(await sign(accountOf(wallet, newKey()), version))
    expect(stranger.status).toBe(402)
    expect(await bench.chain.balanceOf(wallet)).toBe(4n * PRICE)
    expect(await openPayments(market)).toEqual([])
    await soundBooks(market)
  },
)

test('a wallet that is not deployed yet buys where its factory is allowed, and is there then', async () => {
  const key = newKey()
  const calldata = (owner: Hex) =>
    encodeFunctionData({ abi: walletContracts.keyWalletFactory.abi, functionName: 'create', args: [owner, SALT] })
  const wallet = toWallet(
    `0x${String(
      await bench.rpc(
        'eth_call',
        {
          to: factory,
          data: encodeFunctionData({
            abi: walletContracts.keyWalletFactory.abi,
            functionName: 'addressOf',
            args: [key.address, SALT],
          }),
        },
        'latest',
      ),
    ).slice(-40)}`,
  )
  const wrapped =
    (by: Wallet) =>
    (signature: Hex): Hex =>
      `${encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }], [by, calldata(key.address), signature])}${SUFFIX}`
  await bench.fund(wallet, 2n * PRICE)
  const elsewhere = await buy(await sign(accountOf(wallet, key, wrapped(toWallet(`0x${'12'.repeat(20)}`)))))
  expect([elsewhere.status, elsewhere.body.error]).toEqual([402, 'invalid_exact_evm_payload_undeployed_smart_wallet'])
  const thief = await buy(await sign(accountOf(wallet, newKey(), wrapped(factory))))
  expect(thief.status).toBe(402)
  expect(await bench.rpc('eth_getCode', wallet, 'latest')).toBe('0x')

  expect((await buy(await sign(accountOf(wallet, key, wrapped(factory))))).status).toBe(200)
  expect(await bench.rpc('eth_getCode', wallet, 'latest')).not.toBe('0x')
  expect((await buy(await sign(accountOf(wallet, key, wrapped(factory))))).status).toBe(200)
  expect(await bench.chain.balanceOf(wallet)).toBe(0n)
  await soundBooks(market)
})

test('a contract that burns the gas it is asked with is refused, and an honest buyer beside it pays', async () => {
  const burner = await bench.deploy(walletContracts.gasBurner)
  await bench.fund(burner, PRICE)
  const key = newKey()
  await bench.fund(toWallet(key.address), PRICE)
  const [refused, paid] = await Promise.all([buy(await sign(accountOf(burner, newKey()))), buy(await sign(key))])
  expect([refused.status, paid.status]).toEqual([402, 200])
  expect(await bench.chain.balanceOf(burner)).toBe(PRICE)
  await soundBooks(market)
})

test('a signature beyond 4 KiB is refused unread by the chain', async () => {
  const wallet = await bench.deploy(walletContracts.yesWallet)
  await bench.fund(wallet, 2n * PRICE)
  const long = (bytes: number) => accountOf(wallet, newKey(), () => `0x${'ab'.repeat(bytes)}`)
  expect((await buy(await sign(long(4_097)))).status).toBe(402)
  expect((await buy(await sign(long(4_000)))).status).toBe(200)
  expect(await bench.chain.balanceOf(wallet)).toBe(PRICE)
})
