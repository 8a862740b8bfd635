import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Authorization } from '../../../../../src/core/authorization.ts'
import { type Hex, toWallet, type Wallet } from '../../../../../src/core/hex.ts'
import { contracts } from '../contracts/artifacts.ts'

/* The few calls that the queue itself makes, as Solidity encodes them. */

const WORD_DIGITS = 64
const SIGNATURE_DIGITS = 130
/** Longest creation code that the protocol takes (EIP-3860), arguments included. */
const MAX_INITCODE_BYTES = 49_152

const selector = (signature: string): string => bytesToHex(keccak_256(utf8ToBytes(signature)).subarray(0, 4))
const topic = (signature: string): Hex => `0x${bytesToHex(keccak_256(utf8ToBytes(signature)))}`

export const topics = {
  used: topic('AuthorizationUsed(address,bytes32)'),
  cancelled: topic('AuthorizationCanceled(address,bytes32)'),
  transfer: topic('Transfer(address,address,uint256)'),
} as const

const FIELDS = 'address,address,uint256,uint256,uint256,bytes32'
const selectors = {
  byKey: selector(`transferWithAuthorization(${FIELDS},uint8,bytes32,bytes32)`),
  byBytes: selector(`transferWithAuthorization(${FIELDS},bytes)`),
  aggregate: selector('aggregate((address,bool,uint256,bytes)[])'),
  aggregateEven: selector('aggregateEven(address,uint256,uint256,bytes)'),
  aggregate3: selector('aggregate3((address,bool,bytes)[])'),
  error: selector('Error(string)'),
} as const

const uint = (value: bigint | number): string => value.toString(16).padStart(WORD_DIGITS, '0')
const address = (wallet: Wallet): string => wallet.slice(2).padStart(WORD_DIGITS, '0')
/** Its length, and the bytes filled up to whole words. */
const bytes = (digits: string): string =>
  uint(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / WORD_DIGITS) * WORD_DIGITS, '0')

/** Whether a signature has the length of one that a key makes: 65 bytes. */
export function isOfKey(signature: Hex): boolean {
  return signature.length === 2 + SIGNATURE_DIGITS
}

/** `transferWithAuthorization`: by v, r and s for a key, by bytes for everything else. */
export function transferCall(authorization: Authorization, signature: Hex): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const fields = address(from) + address(to) + uint(value) + uint(validAfter) + uint(validBefore) + nonce.slice(2)
  const digits = signature.slice(2)
  if (!isOfKey(signature)) return `0x${selectors.byBytes}${fields}${uint(7 * 32)}${bytes(digits)}`
  const v = Number.parseInt(digits.slice(128), 16)
  return `0x${selectors.byKey}${fields}${uint(v < 27 ? v + 27 : v)}${digits.slice(0, 128)}`
}

export type BatchKind = 'capped' | 'multicall3'
export type BatchedCall = { readonly target: Wallet; readonly data: Hex; readonly gasCap: number }

/** Calls of which each may fail alone. */
export function batchCall(kind: BatchKind, calls: readonly BatchedCall[]): Hex {
  const name = kind === 'capped' ? selectors.aggregate : selectors.aggregate3
  const headOf = ({ target, gasCap }: BatchedCall) =>
    address(target) + uint(1) + (kind === 'capped' ? uint(gasCap) : '')
  return `0x${name}${uint(32)}${callList(calls, headOf)}`
}

/** `headOf`: what stands in each before its calldata. */
function callList(calls: readonly BatchedCall[], headOf: (call: BatchedCall) => string): string {
  const tuples = calls.map((call) => {
    const head = headOf(call)
    return head + uint((head.length + WORD_DIGITS) / 2) + bytes(call.data.slice(2))
  })
  let offset = tuples.length * 32
  const offsets = tuples.map((tuple) => {
    const own = uint(offset)
    offset += tuple.length / 2
    return own
  })
  return uint(tuples.length) + offsets.join('') + tuples.join('')
}

/** Transfers by keys in one transaction: their calls are of one size, which the capped batch takes back to back. */
export function transfersCall(kind: BatchKind, calls: readonly BatchedCall[]): Hex {
  const [first] = calls
  if (kind !== 'capped' || !first || !calls.every((call) => isLike(call, first))) return batchCall(kind, calls)
  const size = first.data.length / 2 - 1
  const all = calls.map(({ data }) => data.slice(2)).join('')
  return `0x${selectors.aggregateEven}${address(first.target)}${uint(first.gasCap)}${uint(size)}${uint(4 * 32)}${bytes(all)}`
}

function isLike({ target, data, gasCap }: BatchedCall, other: BatchedCall): boolean {
  return target === other.target && gasCap === other.gasCap && data.length === other.data.length
}

export type BatchResult = { readonly ok: boolean; readonly data: Hex }

/** What a batch returned for each call, or undefined where it is no such answer. */
export function batchResults(returned: Hex, count: number): BatchResult[] | undefined {
  const words = wordsOf(returned)
  return resultsAt(words, words.number(0) / 32, count)
}

/** `list`: the word at which it begins. */
function resultsAt(words: Words, list: number, count: number): BatchResult[] | undefined {
  if (words.number(list) !== count) return undefined
  const results = Array.from({ length: count }, (_, at) => {
    const tuple = list + 1 + words.number(list + 1 + at) / 32
    const data = tuple + words.number(tuple + 1) / 32
    return { ok: words.number(tuple) === 1, data: words.bytes(data + 1, words.number(data)) }
  })
  return results.every(({ data }) => data !== undefined) ? (results as BatchResult[]) : undefined
}

/** What a probe is asked: which of these addresses hold code, and what each call would return. */
export type ProbeQuestion = { readonly accounts: readonly Wallet[]; readonly calls: readonly BatchedCall[] }
export type ProbeAnswer = {
  /** Of which all of it is so. */
  readonly block: number
  readonly coded: readonly boolean[]
  readonly results: readonly BatchResult[]
}

/** The creation of a contract whose answer is not its code; undefined where it is longer than nodes take. */
export function probeCall({ accounts, calls }: ProbeQuestion): Hex | undefined {
  const addresses = uint(accounts.length) + accounts.map(address).join('')
  const list = callList(calls, ({ target, gasCap }) => address(target) + uint(gasCap))
  const data: Hex = `${contracts.probe.bytecode}${uint(64)}${uint(64 + addresses.length / 2)}${addresses}${list}`
  return data.length <= 2 + 2 * MAX_INITCODE_BYTES ? data : undefined
}

/** What a probe returned, or undefined where it is no such answer. */
export function probeAnswer(returned: Hex, { accounts, calls }: ProbeQuestion): ProbeAnswer | undefined {
  const words = wordsOf(returned)
  const list = words.number(1) / 32
  const block = words.number(0)
  const results = resultsAt(words, words.number(2) / 32, calls.length)
  const coded = accounts.map((_, at) => words.number(list + 1 + at))
  const isWhole = Number.isSafeInteger(block) && words.number(list) === accounts.length
  if (!isWhole || !results || coded.some((one) => one !== 0 && one !== 1)) return undefined
  return { block, coded: coded.map((one) => one === 1), results }
}

/** The text of `Error(string)`; empty for any other answer. */
export function revertText(data: Hex): string {
  if (!data.startsWith(`0x${selectors.error}`)) return ''
  const words = wordsOf(`0x${data.slice(10)}`)
  const text = words.number(0) / 32
  return Buffer.from((words.bytes(text + 1, words.number(text)) ?? '0x').slice(2), 'hex').toString()
}

type Words = {
  readonly number: (word: number) => number
  readonly bytes: (word: number, length: number) => Hex | undefined
}

/** Reads an answer of a contract, which may be anything: beyond its end there is nothing. */
function wordsOf(hex: Hex): Words {
  const digits = hex.slice(2)
  const number = (word: number): number => {
    const value = digits.slice(word * WORD_DIGITS, (word + 1) * WORD_DIGITS)
    return value.length === WORD_DIGITS && /^0{52}/.test(value) ? Number.parseInt(value, 16) : Number.NaN
  }
  const read = (word: number, length: number): Hex | undefined => {
    const from = word * WORD_DIGITS
    const own = digits.slice(from, from + length * 2)
    return Number.isInteger(from) && own.length === length * 2 ? `0x${own}` : undefined
  }
  return { number, bytes: read }
}

/** An address as the topic of an event. */
export function topicOf(wallet: Wallet): Hex {
  return `0x${address(wallet)}`
}

/** The address in a topic. */
export function walletIn(word: Hex | undefined): Wallet | undefined {
  return word?.length === 66 ? toWallet(`0x${word.slice(26)}`) : undefined
}
