import fc from 'fast-check'
import {
  type Abi,
  concat,
  encodeDeployData,
  encodeErrorResult,
  encodeFunctionData,
  encodeFunctionResult,
  parseAbi,
} from 'viem'
import { expect, test } from 'vitest'
import type { Authorization } from '../../../../../src/core/authorization.ts'
import { type Hex, toWallet } from '../../../../../src/core/hex.ts'
import { contracts } from '../contracts/artifacts.testkit.ts'
import { batchCall, batchResults, probeAnswer, probeCall, revertText, transferCall, transfersCall } from './calldata.ts'
import { failureOf } from './outcome.ts'

const multicall = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) returns (Result[] results)',
])
const hex = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const wallet = hex(20).map(toWallet)
const authorization: fc.Arbitrary<Authorization> = fc.record({
  from: wallet,
  to: wallet,
  value: uint,
  validAfter: uint,
  validBefore: uint,
  nonce: hex(32),
})
const nothing = { target: toWallet(`0x${'0'.repeat(40)}`), data: '0x', gasCap: 0 } as const
const someBytes = fc.constantFrom(0, 1, 31, 32, 33, 66, 512).chain(hex)

test('transfers are encoded as an independent library encodes them', () => {
  const byKey = contracts.testToken.abi.filter((one) => one.type !== 'function' || one.inputs.length === 9) as Abi
  const byBytes = contracts.testToken.abi.filter((one) => one.type !== 'function' || one.inputs.length === 7) as Abi
  const functionName = 'transferWithAuthorization'
  fc.assert(
    fc.property(authorization, fc.tuple(hex(64), fc.constantFrom(27, 28)), someBytes, (order, [rs, v], signature) => {
      const { from, to, value, validAfter, validBefore, nonce } = order
      const fields = [from, to, value, validAfter, validBefore, nonce]
      const [r, s]: Hex[] = [`0x${rs.slice(2, 66)}`, `0x${rs.slice(66)}`]
      const keyed = encodeFunctionData({ abi: byKey, functionName, args: [...fields, v, r, s] })
      // 0 and 1 are told for 27 and 28.
      for (const last of [v, v - 27]) {
        expect(transferCall(order, `${rs}${last.toString(16).padStart(2, '0')}`)).toBe(keyed)
      }
      expect(transferCall(order, signature)).toBe(
        encodeFunctionData({ abi: byBytes, functionName, args: [...fields, signature] }),
      )
    }),
    { numRuns: 50 },
  )
})

test('batches and their answers are those of an independent library', () => {
  const call = fc.record({ target: wallet, data: someBytes, gasCap: fc.nat() })
  const result = fc.record({ success: fc.boolean(), returnData: someBytes })
  fc.assert(
    fc.property(fc.array(call, { maxLength: 5 }), fc.array(result, { maxLength: 5 }), (calls, results) => {
      const asked = calls.map(({ target, data, gasCap }) => ({
        target,
        allowFailure: true,
        gasCap: BigInt(gasCap),
        callData: data,
      }))
      const capped = { abi: contracts.cappedBatch.abi, functionName: 'aggregate' } as const
      const plain = { abi: multicall, functionName: 'aggregate3' } as const
      expect(batchCall('capped', calls)).toBe(encodeFunctionData({ ...capped, args: [asked] }))
      expect(batchCall('multicall3', calls)).toBe(encodeFunctionData({ ...plain, args: [asked] }))
      const returned = encodeFunctionResult({ ...plain, result: results })
      expect(batchResults(returned, results.length)).toEqual(
        results.map(({ success, returnData }) => ({ ok: success, data: returnData })),
      )
      expect(batchResults(returned, results.length + 1)).toBe(undefined)
    }),
    { numRuns: 50 },
  )
})

test('calls of one size go back to back, and others as they are', () => {
  const call = fc.record({ target: wallet, gasCap: fc.nat() })
  const data = fc.constantFrom(1, 31, 32, 292).chain((size) => fc.array(hex(size), { minLength: 1, maxLength: 5 }))
  const abi = contracts.cappedBatch.abi
  fc.assert(
    fc.property(call, data, ({ target, gasCap }, parts) => {
      const calls = parts.map((one) => ({ target, gasCap, data: one }))
      const size = BigInt(size0(parts))
      const args = [target, BigInt(gasCap), size, concat(parts)] as const
      expect(transfersCall('capped', calls)).toBe(encodeFunctionData({ abi, functionName: 'aggregateEven', args }))
      expect(transfersCall('multicall3', calls)).toBe(batchCall('multicall3', calls))
      const uneven = [...calls, { target, gasCap, data: `${parts[0]}00` as Hex }]
      expect(transfersCall('capped', uneven)).toBe(batchCall('capped', uneven))
    }),
    { numRuns: 50 },
  )
})

const size0 = ([first = '0x']: readonly Hex[]): number => (first.length - 2) / 2

test('probes and their answers are those of an independent library', () => {
  const call = fc.record({ target: wallet, data: someBytes, gasCap: fc.nat() })
  const result = fc.record({ success: fc.boolean(), returnData: someBytes })
  const answer = parseAbi([
    'struct Result { bool success; bytes returnData; }',
    'function f() returns (uint256, bool[], Result[])',
  ])
  fc.assert(
    fc.property(
      fc.array(fc.tuple(wallet, fc.boolean()), { maxLength: 5 }),
      fc.array(fc.tuple(call, result), { maxLength: 5 }),
      fc.nat(),
      (payers, asked, block) => {
        const question = { accounts: payers.map(([one]) => one), calls: asked.map(([one]) => one) }
        const given = question.calls.map(({ target, gasCap, data }) => ({
          target,
          gasCap: BigInt(gasCap),
          callData: data,
        }))
        expect(probeCall(question)).toBe(encodeDeployData({ ...contracts.probe, args: [question.accounts, given] }))
        const coded = payers.map(([, has]) => has)
        const results = asked.map(([, one]) => one)
        const returned = encodeFunctionResult({ abi: answer, result: [BigInt(block), coded, results] })
        const said = results.map(({ success, returnData }) => ({ ok: success, data: returnData }))
        expect(probeAnswer(returned, question)).toEqual({ block, coded, results: said })
        const more = { ...question, accounts: [...question.accounts, `0x${'1'.repeat(40)}` as const] }
        expect(probeAnswer(returned, { ...more, accounts: more.accounts.map(toWallet) })).toBe(undefined)
      },
    ),
    { numRuns: 50 },
  )
})

test('a probe that is longer than nodes take is none', () => {
  const account = toWallet(`0x${'1'.repeat(40)}`)
  const accounts = (count: number) => ({ accounts: Array.from({ length: count }, () => account), calls: [] })
  expect(probeCall(accounts(1_400))?.length).toBeLessThanOrEqual(2 + 2 * 49_152)
  expect(probeCall(accounts(1_600))).toBe(undefined)
})

test('what is no answer of a batch is none, whatever its bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.integer({ min: 1, max: 5 }), (bytes, count) => {
      const read = batchResults(`0x${Buffer.from(bytes).toString('hex')}`, count)
      expect(read === undefined || read.length === count).toBe(true)
      const asked = { accounts: [], calls: Array.from({ length: count }, () => nothing) }
      const probed = probeAnswer(`0x${Buffer.from(bytes).toString('hex')}`, asked)
      expect(probed === undefined || probed.results.length === count).toBe(true)
      expect(typeof revertText(`0x08c379a0${Buffer.from(bytes).toString('hex')}`)).toBe('string')
    }),
  )
})

test.each([
  ['FiatTokenV2: authorization is used or canceled', 'authorization_used'],
  ['FiatTokenV2: authorization is expired', 'authorization_expired'],
  ['FiatTokenV2: authorization is not yet valid', 'authorization_not_yet_valid'],
  ['ERC20: transfer amount exceeds balance', 'insufficient_funds'],
  ['FiatTokenV2: invalid signature', 'signature_invalid'],
  ['ECRecover: invalid signature', 'signature_invalid'],
  ["ECRecover: invalid signature 's' value", 'signature_invalid'],
  ["ECRecover: invalid signature 'v' value", 'signature_invalid'],
  ['ECRecover: invalid signature length', 'signature_invalid'],
  ['Blacklistable: account is blacklisted', 'payer_blocked'],
  ['Pausable: paused', 'token_paused'],
  ['anything else', 'reverted'],
])('%s: %s', (text, failure) => {
  const abi = parseAbi(['error Error(string)'])
  expect(failureOf(encodeErrorResult({ abi, errorName: 'Error', args: [text] }))).toBe(failure)
  expect(failureOf('0x')).toBe('reverted')
})
