import { decodeAbiParameters, encodeAbiParameters, pad, toEventSelector, toFunctionSelector } from 'viem'
import { type Hex, toWallet, type Wallet } from '../../../../../src/core/hex.ts'

/** The ABI types in use. Lists of these are allowed, tuples are not. */
type Flat = 'uint256' | 'uint64' | 'uint8' | 'int128' | 'address' | 'bool' | 'bytes32' | 'bytes4' | 'string' | 'bytes'
export type AbiType = Flat | `${Flat}[]`

/** Integers of any size are bigints; bytes and addresses are hex in lower case. */
export type ValueOf<T> = T extends `${infer Item}[]`
  ? readonly ValueOf<Item>[]
  : T extends `uint${string}` | `int${string}`
    ? bigint
    : T extends 'bool'
      ? boolean
      : T extends 'address'
        ? Wallet
        : T extends 'string'
          ? string
          : Hex
export type ValuesOf<T extends readonly AbiType[]> = { readonly [K in keyof T]: ValueOf<T[K]> }

/** A contract function. */
export type AbiMethod<In extends readonly AbiType[], Out extends readonly AbiType[]> = {
  readonly selector: Hex
  readonly takes: In
  readonly gives: Out
}

/** @param name - without types */
export function method<const In extends readonly AbiType[], const Out extends readonly AbiType[]>(
  name: string,
  takes: In,
  gives: Out,
): AbiMethod<In, Out> {
  return { selector: toFunctionSelector(`${name}(${takes.join(',')})`), takes, gives }
}

/** First topic of an event, from its signature. */
export function topicOf(event: string): Hex {
  return toEventSelector(event)
}

export function addressTopic(wallet: Wallet): Hex {
  return pad(wallet)
}

/** Call data (Solidity ABI). */
export function encodeCall<In extends readonly AbiType[]>(
  { selector, takes }: AbiMethod<In, readonly AbiType[]>,
  values: ValuesOf<In>,
): Hex {
  return `${selector}${encodeValues(takes, values).slice(2)}`
}

export function encodeValues<const T extends readonly AbiType[]>(types: T, values: ValuesOf<T>): Hex {
  return `0x${encodeAbiParameters(parametersOf(types), values).slice(2).toLowerCase()}`
}

/** @throws RangeError when the bytes do not match */
export function decodeValues<const T extends readonly AbiType[]>(types: T, data: Hex): ValuesOf<T> {
  try {
    const values: readonly unknown[] = decodeAbiParameters(parametersOf(types), data)
    const own: readonly unknown[] = values.map((value, at) => ownForm(value, types[at] ?? ''))
    return own as ValuesOf<T> // as the types say
  } catch (error) {
    throw new RangeError('a response has an unexpected type', { cause: error })
  }
}

function parametersOf(types: readonly AbiType[]): { readonly type: AbiType }[] {
  return types.map((type) => ({ type }))
}

/** Converts a value from viem, which returns small integers as numbers, and addresses in mixed case. */
function ownForm(value: unknown, type: string): unknown {
  if (Array.isArray(value)) return value.map((item) => ownForm(item, type.slice(0, -2)))
  if (typeof value === 'number') return BigInt(value)
  return type === 'address' ? toWallet(String(value)) : value
}
