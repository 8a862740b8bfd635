import { decodeAbiParameters, encodeAbiParameters, encodeFunctionData, parseAbi, parseAbiParameters } from 'viem'
import type { Authorization } from '../../../../../src/core/authorization.ts'
import { attempt } from '../../../../../src/core/error.ts'
import { type Hex, toWallet, type Wallet } from '../../../../../src/core/hex.ts'
import { creationCode } from '../contracts/artifacts.ts'
import { encodeCall, method, topicOf } from '../rpc/abi.ts'

/** Characters of a key signature: 65 bytes and `0x`. */
const KEY_SIGNATURE_CHARS = 132
/** Protocol limit of creation code (EIP-3860). */
const MAX_INITCODE_BYTES = 49_152
const ADDRESS_TOPIC_CHARS = 66

export const topics = {
  used: topicOf('AuthorizationUsed(address,bytes32)'),
  cancelled: topicOf('AuthorizationCanceled(address,bytes32)'),
  transfer: topicOf('Transfer(address,address,uint256)'),
} as const

const FIELDS = ['address', 'address', 'uint256', 'uint256', 'uint256', 'bytes32'] as const
const byKey = method('transferWithAuthorization', [...FIELDS, 'uint8', 'bytes32', 'bytes32'], [])
const byBytes = method('transferWithAuthorization', [...FIELDS, 'bytes'], [])
const aggregateEven = method('aggregateEven', ['address', 'uint256', 'uint256', 'bytes'], [])
const batches = parseAbi([
  'struct Capped { address target; bool allowFailure; uint256 gasCap; bytes callData; }',
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'function aggregate(Capped[] calls)',
  'function aggregate3(Call3[] calls)',
])
const RESULT = 'struct Result { bool ok; bytes data; }'
const batchAnswer = parseAbiParameters(['Result[]', RESULT])
const probeInput = parseAbiParameters([
  'address[] accounts, Probed[] calls',
  'struct Probed { address target; uint256 gasCap; bytes callData; }',
])
const probeOutput = parseAbiParameters(['uint256 block, bool[] coded, Result[] results', RESULT])
const ERROR_SELECTOR = method('Error', ['string'], []).selector

/** Whether a signature has the length of an ECDSA signature by a key. Any other is a contract wallet's. */
export function isOfKey(signature: Hex): boolean {
  return signature.length === KEY_SIGNATURE_CHARS
}

/** Call data of `transferWithAuthorization`. A contract wallet's signature is passed as bytes, others as v, r and s. */
export function transferCall(authorization: Authorization, signature: Hex): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const fields = [from, to, value, validAfter, validBefore, nonce] as const
  if (!isOfKey(signature)) return encodeCall(byBytes, [...fields, signature])
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), BigInt(`0x${signature.slice(130)}`)]
  return encodeCall(byKey, [...fields, v < 27n ? v + 27n : v, `0x${r}`, `0x${s}`])
}

export type BatchKind = 'capped' | 'multicall3'
export type BatchedCall = { readonly target: Wallet; readonly data: Hex; readonly gasCap: number }

export function batchCall(kind: BatchKind, calls: readonly BatchedCall[]): Hex {
  const all = calls.map(({ target, data, gasCap }) => {
    return { target, allowFailure: true, gasCap: BigInt(gasCap), callData: data }
  })
  return encodeFunctionData({ abi: batches, functionName: kind === 'capped' ? 'aggregate' : 'aggregate3', args: [all] })
}

/** Call data for a batch of transfers; shorter if the batch contract is `capped` and all calls have equal sizes. */
export function transfersCall(kind: BatchKind, calls: readonly BatchedCall[]): Hex {
  const [first] = calls
  if (kind !== 'capped' || !first || !calls.every((call) => isLike(call, first))) return batchCall(kind, calls)
  const size = BigInt(first.data.length / 2 - 1)
  const all = calls.map(({ data }) => data.slice(2)).join('')
  return encodeCall(aggregateEven, [first.target, BigInt(first.gasCap), size, `0x${all}`])
}

function isLike({ target, data, gasCap }: BatchedCall, other: BatchedCall): boolean {
  return target === other.target && gasCap === other.gasCap && data.length === other.data.length
}

export type BatchResult = { readonly ok: boolean; readonly data: Hex }

export function batchResults(returned: Hex, count: number): readonly BatchResult[] | undefined {
  const [results] = attempt(() => decodeAbiParameters(batchAnswer, returned)) ?? []
  return results?.length === count ? results : undefined
}

/** Questions of a probe: which addresses have code, and what calls return. */
export type ProbeQuestion = { readonly accounts: readonly Wallet[]; readonly calls: readonly BatchedCall[] }
export type ProbeAnswer = {
  /** Number of the block that all answers refer to. */
  readonly block: number
  readonly coded: readonly boolean[]
  readonly results: readonly BatchResult[]
}

/** Call data of a contract creation that returns the answers instead of code; undefined if too long. */
export function probeCall({ accounts, calls }: ProbeQuestion): Hex | undefined {
  const asked = calls.map(({ target, gasCap, data }) => ({ target, gasCap: BigInt(gasCap), callData: data }))
  const data: Hex = `${creationCode.probe}${encodeAbiParameters(probeInput, [accounts, asked]).slice(2)}`
  return data.length <= 2 + 2 * MAX_INITCODE_BYTES ? data : undefined
}

export function probeAnswer(returned: Hex, { accounts, calls }: ProbeQuestion): ProbeAnswer | undefined {
  const [at, coded, results] = attempt(() => decodeAbiParameters(probeOutput, returned)) ?? []
  const block = Number(at)
  const isWhole = Number.isSafeInteger(block) && coded?.length === accounts.length && results?.length === calls.length
  return isWhole ? { block, coded, results } : undefined
}

/** Message of `Error(string)`; empty for other revert data. */
export function revertText(data: Hex): string {
  if (!data.startsWith(ERROR_SELECTOR)) return ''
  const [text] = attempt(() => decodeAbiParameters(parseAbiParameters('string'), `0x${data.slice(10)}`)) ?? []
  return text ?? ''
}

export function walletIn(word: Hex | undefined): Wallet | undefined {
  return word?.length === ADDRESS_TOPIC_CHARS ? toWallet(`0x${word.slice(26)}`) : undefined
}
