import fc from 'fast-check'
import { decodeFunctionData, encodeAbiParameters, encodeFunctionData, parseAbi, toEventSelector } from 'viem'
import { expect, test } from 'vitest'
import { type Hex, toWallet } from '../../../../../src/core/hex.ts'
import { type AbiType, decodeValues, encodeCall, method, topicOf } from './abi.ts'

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(hexOf)
const flat = {
  uint256: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  int128: fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }),
  bool: fc.boolean(),
  address: bytesOf(20),
  bytes32: bytesOf(32),
  bytes4: bytesOf(4),
  string: fc.string({ unit: 'binary', maxLength: 90 }).map((text) => Buffer.from(text).toString()),
  bytes: fc.uint8Array({ maxLength: 90 }).map(hexOf),
} as const
const names = Object.keys(flat) as (keyof typeof flat)[]
const typed = fc.constantFrom(...names).chain((name) =>
  fc.boolean().chain((isList) => {
    const type: AbiType = isList ? `${name}[]` : name
    const value: fc.Arbitrary<unknown> = isList
      ? fc.array(flat[name] as fc.Arbitrary<unknown>, { maxLength: 4 })
      : flat[name]
    return value.map((given) => ({ type, given }))
  }),
)

const lower = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}` : one)).toLowerCase())

test('calls and answers are those of the reference encoder', () => {
  fc.assert(
    fc.property(fc.array(typed, { maxLength: 6 }), (parameters) => {
      const types = parameters.map(({ type }) => type)
      const values = parameters.map(({ given }) => given)
      const encoded = encodeAbiParameters(
        types.map((type) => ({ type })),
        values as never,
      )
      const call = encodeCall(method('name', types, []), values as never)
      expect(call.slice(10)).toBe(encoded.slice(2).toLowerCase())
      expect(lower(decodeValues(types, encoded))).toEqual(lower(values))
    }),
    { numRuns: 300 },
  )
})

test('selectors and topics are those of the reference', () => {
  const abi = parseAbi(['function mint(address to, uint256 amount)'])
  const args = [toWallet(`0x${'ab'.repeat(20)}`), 7n] as const
  const ours = encodeCall(method('mint', ['address', 'uint256'], []), args)
  expect(ours).toBe(encodeFunctionData({ abi, args }).toLowerCase())
  expect(decodeFunctionData({ abi, data: ours }).args?.[1]).toBe(7n)
  expect(topicOf('Transfer(address,address,uint256)')).toBe(
    toEventSelector('event Transfer(address indexed from, address indexed to, uint256 value)'),
  )
})

test.each([
  { name: 'nothing', types: ['uint256'], data: '0x' },
  { name: 'a text beyond the end', types: ['string'], data: `0x${'20'.padStart(64, '0')}${'ff'.padStart(64, '0')}` },
  {
    name: 'a list beyond the end',
    types: ['uint256[]'],
    data: `0x${'20'.padStart(64, '0')}${'ffff'.padStart(64, '0')}`,
  },
  { name: 'an offset beyond reason', types: ['bytes'], data: `0x${'f'.repeat(64)}` },
] as const)('an answer that holds $name is refused', ({ types, data }) => {
  expect(() => decodeValues(types, data)).toThrow(RangeError)
})
