import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { type Hex, toWallet, type Wallet } from '../../../../src/core/hex.ts'

/** Types of the few calls that are made here; no tuples, and lists of these alone. */
type Flat = 'uint256' | 'uint64' | 'uint8' | 'int128' | 'address' | 'bool' | 'bytes32' | 'bytes4' | 'string' | 'bytes'
export type AbiType = Flat | `${Flat}[]`

/** Integers are bigints, whatever their size. */
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
type AnyValue = bigint | boolean | string | readonly AnyValue[]

const WORD_DIGITS = 64
const WORD_BYTES = 32
const SELECTOR_DIGITS = 8
/** Bytes that an offset or a length may name. */
const MAX_SIZE = 2n ** 32n

/** A function of a contract as it is called. */
export type AbiMethod<In extends readonly AbiType[], Out extends readonly AbiType[]> = {
  readonly selector: string
  readonly takes: In
  readonly gives: Out
}

/** @param name - without its types, which are those that it takes. */
export function method<const In extends readonly AbiType[], const Out extends readonly AbiType[]>(
  name: string,
  takes: In,
  gives: Out,
): AbiMethod<In, Out> {
  return { selector: keccakText(`${name}(${takes.join(',')})`).slice(0, SELECTOR_DIGITS), takes, gives }
}

/** First topic of an event, by its full signature. */
export function topicOf(event: string): Hex {
  return `0x${keccakText(event)}`
}

/** Calldata of a call (Solidity ABI). */
export function encodeCall<In extends readonly AbiType[]>(
  { selector, takes }: AbiMethod<In, readonly AbiType[]>,
  values: ValuesOf<In>,
): Hex {
  return `0x${selector}${encode(takes, values as readonly AnyValue[])}`
}

/** @throws RangeError where the bytes are none of these types. */
export function decodeValues<const T extends readonly AbiType[]>(types: T, data: Hex): ValuesOf<T> {
  return decode(types, data.slice(2), 0) as ValuesOf<T>
}

function keccakText(text: string): string {
  return bytesToHex(keccak_256(utf8ToBytes(text)))
}

function isDynamic(type: AbiType): boolean {
  return type === 'string' || type === 'bytes' || type.endsWith('[]')
}

function encode(types: readonly AbiType[], values: readonly AnyValue[]): string {
  let tail = ''
  const heads = types.map((type, at) => {
    const value = values[at] as AnyValue
    if (!isDynamic(type)) return wordOf(type, value)
    const offset = types.length * WORD_BYTES + tail.length / 2
    tail += encodeDynamic(type, value)
    return uintWord(BigInt(offset))
  })
  return heads.join('') + tail
}

function encodeDynamic(type: AbiType, value: AnyValue): string {
  if (type.endsWith('[]')) {
    const items = value as readonly AnyValue[]
    const item = type.slice(0, -2) as Flat
    return (
      uintWord(BigInt(items.length)) +
      encode(
        items.map(() => item),
        items,
      )
    )
  }
  const digits = type === 'string' ? bytesToHex(utf8ToBytes(String(value))) : String(value).slice(2)
  const padding = (WORD_DIGITS - (digits.length % WORD_DIGITS)) % WORD_DIGITS
  return uintWord(BigInt(digits.length / 2)) + digits + '0'.repeat(padding)
}

function wordOf(type: AbiType, value: AnyValue): string {
  if (typeof value === 'bigint') return uintWord(BigInt.asUintN(256, value))
  if (typeof value === 'boolean') return uintWord(value ? 1n : 0n)
  const digits = String(value).slice(2).toLowerCase()
  return type === 'address' ? digits.padStart(WORD_DIGITS, '0') : digits.padEnd(WORD_DIGITS, '0')
}

function uintWord(value: bigint): string {
  return value.toString(16).padStart(WORD_DIGITS, '0')
}

/** `base`: where the offsets of these values count from, in digits. */
function decode(types: readonly AbiType[], digits: string, base: number): unknown[] {
  return types.map((type, at) => {
    const word = wordAt(digits, base + at * WORD_DIGITS)
    return isDynamic(type) ? decodeDynamic(type, digits, base + 2 * sizeIn(word)) : valueIn(type, word)
  })
}

function decodeDynamic(type: AbiType, digits: string, at: number): unknown {
  const length = sizeIn(wordAt(digits, at))
  const from = at + WORD_DIGITS
  if (type.endsWith('[]')) {
    if (length * WORD_DIGITS > digits.length) throw new RangeError('a list is longer than its bytes')
    const item = type.slice(0, -2) as Flat
    return decode(
      Array.from({ length }, () => item),
      digits,
      from,
    )
  }
  if (from + 2 * length > digits.length) throw new RangeError('a text is longer than its bytes')
  const bytes = digits.slice(from, from + 2 * length)
  return type === 'string' ? Buffer.from(bytes, 'hex').toString() : `0x${bytes}`
}

function valueIn(type: AbiType, word: string): bigint | boolean | Hex {
  if (type === 'address') return toWallet(`0x${word.slice(-40)}`)
  if (type === 'bool') return BigInt(`0x${word}`) !== 0n
  if (type.startsWith('uint')) return BigInt(`0x${word}`)
  if (type.startsWith('int')) return BigInt.asIntN(256, BigInt(`0x${word}`))
  return `0x${word.slice(0, 2 * Number(type.slice('bytes'.length)))}`
}

function wordAt(digits: string, at: number): string {
  const word = digits.slice(at, at + WORD_DIGITS)
  if (word.length < WORD_DIGITS) throw new RangeError('an answer is shorter than what it was asked for')
  return word
}

function sizeIn(word: string): number {
  const size = BigInt(`0x${word}`)
  if (size > MAX_SIZE) throw new RangeError('an answer points beyond its bytes')
  return Number(size)
}
