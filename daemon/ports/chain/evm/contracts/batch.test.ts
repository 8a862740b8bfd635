import { concat, decodeFunctionResult, encodeFunctionData, parseSignature, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Hex } from '../../../../../src/core/hex.ts'
import { accountAt, devAccounts, onTestChain } from '../anvil/anvil.testkit.ts'
import { contracts } from './artifacts.testkit.ts'
import { signed } from './token.testkit.ts'
import { walletContracts } from './wallets/artifacts.testkit.ts'

const [owner, payer, payee, relayer] = [0, 1, 2, 3].map(accountAt) as [Hex, Hex, Hex, Hex]
const CAP = 150_000n

const stage = onTestChain(async (chain) => {
  const token = await chain.deploy(contracts.testToken, ['USD Coin', '2', owner])
  const batch = await chain.deploy(contracts.cappedBatch)
  const plain = await chain.deploy(contracts.multicall3)
  const burner = await chain.deploy(walletContracts.gasBurner)
  for (const account of [payer, burner.address]) {
    await chain.attempt({ from: owner, to: token, name: 'mint', args: [account, 1_000n] })
  }
  return { token, batch, plain, burner }
})

/** Calldata of a transfer of 10 by somebody's signature. */
async function transfer(from: Hex, changes: { value?: bigint; validBefore?: bigint } = {}): Promise<Hex> {
  const { token } = stage()
  const { args, signature } = await signed(token.address, { from, to: payee, value: 10n, ...changes }, devAccounts[1])
  return encodeFunctionData({
    abi: contracts.testToken.abi,
    functionName: 'transferWithAuthorization',
    args: [...args, signature],
  })
}

const capped = (target: Hex, callData: Hex, allowFailure = true) => ({ target, allowFailure, gasCap: CAP, callData })
const paid = () => stage().chain.read(stage().token, 'balanceOf', [payee])

describe('a batch with a cap for each call', () => {
  test('moves what holds, and tells each failure apart by its reason', async () => {
    const { chain, token, batch } = stage()
    const good = await transfer(payer)
    const data = [good, good, await transfer(payer, { value: 5_000n }), await transfer(payer, { validBefore: 1n })]
    const calls = data.map((one) => capped(token.address, one))
    const { result } = await chain.client.simulateContract({
      ...contracts.cappedBatch,
      address: batch.address,
      functionName: 'aggregate',
      args: [calls],
      account: relayer,
    })
    const texts = result.map(({ returnData }) => Buffer.from(returnData.slice(2), 'hex').toString('latin1'))
    expect(result.map(({ success }) => success)).toEqual([true, false, false, false])
    expect(texts[1]).toContain('authorization is used or canceled')
    expect(texts[2]).toContain('exceeds balance')
    expect(texts[3]).toContain('is expired')
    expect(await chain.attempt({ from: relayer, to: batch, name: 'aggregate', args: [calls] })).toMatchObject({
      ok: true,
    })
    expect(await paid()).toBe(10n)
  })

  test('a payer that burns all the gas it gets fails alone, and in front of all others', async () => {
    const { chain, token, batch, burner } = stage()
    const honest = await Promise.all(Array.from({ length: 9 }, () => transfer(payer)))
    const calls = [await transfer(burner.address), ...honest].map((one) => capped(token.address, one))
    const outcome = await chain.attempt({ from: relayer, to: batch, name: 'aggregate', args: [calls] })
    expect(outcome).toMatchObject({ ok: true })
    expect(await paid()).toBe(90n)
  })

  test('too little gas for the caps fails whole, and none of the items for its neighbours', async () => {
    const { chain, token, batch } = stage()
    const calls = [capped(token.address, await transfer(payer)), capped(token.address, await transfer(payer))]
    const data = encodeFunctionData({ abi: contracts.cappedBatch.abi, functionName: 'aggregate', args: [calls] })
    const hash = await chain.client.sendTransaction({
      account: relayer,
      chain: chain.client.chain,
      to: batch.address,
      data,
      gas: 250_000n,
    })
    expect(await chain.mined(hash)).toMatchObject({ status: 'reverted' })
    expect(await paid()).toBe(0n)
  })

  test('a call that may not fail undoes the whole', async () => {
    const { chain, token, batch } = stage()
    const calls = [
      capped(token.address, await transfer(payer)),
      capped(token.address, await transfer(payer, { validBefore: 1n }), false),
    ]
    const outcome = await chain.attempt({ from: relayer, to: batch, name: 'aggregate', args: [calls] })
    expect(outcome).toEqual({ ok: false, error: 'CallFailed' })
  })

  test('a long answer costs its own call only', async () => {
    const { chain, token, batch } = stage()
    const long = await chain.deploy(walletContracts.longAnswer)
    const calls = [capped(long.address, '0x01'), capped(token.address, await transfer(payer))]
    const data = encodeFunctionData({ abi: contracts.cappedBatch.abi, functionName: 'aggregate', args: [calls] })
    const answer = await chain.client.call({ account: relayer, to: batch.address, data })
    const results = decodeFunctionResult({
      abi: contracts.cappedBatch.abi,
      functionName: 'aggregate',
      data: answer.data ?? '0x',
    })
    expect(results.map(({ success }) => success)).toEqual([false, true])
    expect(results[0]?.returnData).toHaveLength(2 + 2 * 512)
  })
})

describe('calls of one size, back to back', () => {
  /** 292 bytes each: by v, r and s, as a key signs. */
  async function keyed(changes: { value?: bigint; validBefore?: bigint; from?: Hex } = {}): Promise<Hex> {
    const { from = payer, ...more } = changes
    const { args, signature } = await signed(
      stage().token.address,
      { from, to: payee, value: 10n, ...more },
      devAccounts[1],
    )
    const { r, s, v } = parseSignature(signature)
    return encodeFunctionData({
      abi: contracts.testToken.abi,
      functionName: 'transferWithAuthorization',
      args: [...args, Number(v), r, s],
    })
  }

  const even = (calls: readonly Hex[], { gasCap = CAP, size = 292n, to = stage().token.address } = {}) =>
    [to, gasCap, size, calls.length > 0 ? concat([...calls]) : '0x'] as const
  const told = async (args: ReturnType<typeof even>) => {
    const { chain, batch } = stage()
    const { result } = await chain.client.simulateContract({
      ...contracts.cappedBatch,
      address: batch.address,
      functionName: 'aggregateEven',
      args,
      account: relayer,
    })
    return result
  }

  test('says what the other form says of the same calls, and moves the same', async () => {
    const { chain, token, batch } = stage()
    const good = await keyed()
    const calls = [good, await keyed({ value: 5_000n }), good, await keyed(), await keyed({ validBefore: 1n })]
    const listed = await chain.client.simulateContract({
      ...contracts.cappedBatch,
      address: batch.address,
      functionName: 'aggregate',
      args: [calls.map((one) => capped(token.address, one))],
      account: relayer,
    })
    expect(await told(even(calls))).toEqual(listed.result)
    expect(listed.result.map(({ success }) => success)).toEqual([true, false, false, true, false])
    const done = await chain.attempt({ from: relayer, to: batch, name: 'aggregateEven', args: [...even(calls)] })
    expect(done).toMatchObject({ ok: true })
    expect(await paid()).toBe(20n)
  })

  test('a payer that burns all the gas it gets fails alone, and in front of all others', async () => {
    const { chain, batch, burner } = stage()
    const honest = await Promise.all(Array.from({ length: 9 }, () => keyed()))
    const args = even([await keyed({ from: burner.address }), ...honest])
    expect((await told(args)).map(({ success }) => success)).toEqual([false, ...honest.map(() => true)])
    expect(await chain.attempt({ from: relayer, to: batch, name: 'aggregateEven', args: [...args] })).toMatchObject({
      ok: true,
    })
    expect(await paid()).toBe(90n)
  })

  test('too little gas for the caps fails whole, and none of the items for its neighbours', async () => {
    const { chain, batch } = stage()
    const args = even([await keyed(), await keyed()])
    const data = encodeFunctionData({ abi: contracts.cappedBatch.abi, functionName: 'aggregateEven', args })
    const call = { account: relayer, chain: chain.client.chain, to: batch.address, data, gas: 215_000n }
    const hash = await chain.client.sendTransaction(call)
    expect(await chain.mined(hash)).toMatchObject({ status: 'reverted' })
    expect(await paid()).toBe(0n)
  })

  test('a long answer is cut, and the next one stands where it belongs', async () => {
    const { chain } = stage()
    const { address: to } = await chain.deploy(walletContracts.longAnswer)
    const results = await told(even(['0x01', '0x02'], { to, size: 1n }))
    expect(results.map(({ success }) => success)).toEqual([false, false])
    for (const { returnData } of results) expect(returnData).toHaveLength(2 + 2 * 512)
  })

  test('calls that are not of the size are none; no calls are no results', async () => {
    for (const size of [0n, 291n]) {
      const args = [...even([await keyed()], { size })]
      const { chain, batch } = stage()
      expect(await chain.attempt({ from: relayer, to: batch, name: 'aggregateEven', args })).toEqual({
        ok: false,
        error: 'Uneven',
      })
    }
    expect(await told(even([]))).toEqual([])
  })

  test('a payment among sixteen takes less than 0.64 of the gas of one alone', async () => {
    const { chain, token, batch } = stage()
    const gasOf = async (to: Hex, data: Hex) => {
      const hash = await chain.client.sendTransaction({ account: relayer, chain: chain.client.chain, to, data })
      const { gasUsed, status } = await chain.mined(hash)
      expect(status).toBe('success')
      return Number(gasUsed)
    }
    // The first payment to somebody fills a slot.
    await gasOf(token.address, await keyed())
    const alone = await gasOf(token.address, await keyed())
    const calls = await Promise.all(Array.from({ length: 16 }, () => keyed()))
    const abi = contracts.cappedBatch.abi
    const data = encodeFunctionData({ abi, functionName: 'aggregateEven', args: even(calls) })
    const together = (await gasOf(batch.address, data)) / calls.length
    expect(await paid()).toBe(180n)
    expect(together / alone).toBeLessThan(0.64)
  })
})

describe('the plain batch', () => {
  test('moves what holds and keeps the reasons of the rest', async () => {
    const { chain, token, plain } = stage()
    const data = [await transfer(payer), await transfer(payer, { validBefore: 1n })]
    const calls = data.map((callData) => ({ target: token.address, allowFailure: true, callData }))
    const outcome = await chain.attempt({ from: relayer, to: plain, name: 'aggregate3', args: [calls] })
    expect(outcome).toMatchObject({ ok: true })
    expect(await paid()).toBe(10n)
    const strict = calls.map((call) => ({ ...call, allowFailure: false }))
    const failed = await chain.attempt({ from: relayer, to: plain, name: 'aggregate3', args: [strict] })
    expect(failed).toEqual({ ok: false, error: 'Multicall3: call failed' })
  })

  test('reads what a wallet and the chain have', async () => {
    const { chain, plain } = stage()
    const block = await chain.client.getBlock()
    expect(await chain.read(plain, 'getEthBalance', [owner])).toBe(await chain.client.getBalance({ address: owner }))
    expect(await chain.read(plain, 'getBlockNumber')).toBe(block.number)
    expect(await chain.read(plain, 'getCurrentBlockTimestamp')).toBeGreaterThanOrEqual(block.timestamp)
  })
})

describe('verdict anchors', () => {
  const [first, second, subject] = ['a', 'b', 'c'].map((name) => toHex(name, { size: 32 })) as [Hex, Hex, Hex]

  test('number the roots of a subject, and take an id once', async () => {
    const { chain } = stage()
    const anchors = await chain.deploy(contracts.verdictAnchors, [relayer])
    const anchor = (from: Hex, id: Hex) =>
      chain.attempt({ from, to: anchors, name: 'anchor', args: [id, subject, toHex('root', { size: 32 }), 'uri'] })
    expect(await anchor(owner, first)).toEqual({ ok: false, error: 'NotPublisher' })
    expect(await anchor(relayer, first)).toMatchObject({ ok: true })
    expect(await anchor(relayer, first)).toEqual({ ok: false, error: 'Done' })
    expect(await anchor(relayer, second)).toMatchObject({ ok: true })
    expect(await chain.read(anchors, 'latest', [subject])).toMatchObject([
      toHex('root', { size: 32 }),
      2n,
      expect.anything(),
    ])
  })
})
