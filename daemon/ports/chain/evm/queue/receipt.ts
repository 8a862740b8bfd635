import type { Hex, Wallet } from '../../../../../src/core/hex.ts'
import { isObject } from '../../../../../src/core/json.ts'
import { addressTopic } from '../rpc/abi.ts'
import { bigIn, bytesIn, numberIn } from '../rpc/values.ts'
import { topics, walletIn } from './calldata.ts'
import type { EventLog } from './queue.ts'

/** Number of characters of a 32-byte word in hex, with `0x`. */
const WORD_HEX = 66

export type Receipt = {
  readonly hash: Hex
  readonly ok: boolean
  readonly block: number
  readonly blockHash: Hex
  readonly gasUsed: bigint
  /** Undefined if the node does not state the gas price. */
  readonly costWei: bigint | undefined
  readonly logs: readonly EventLog[]
}

/** Parses a node's receipt; undefined if the transaction is in no block. @throws RpcUnavailableError if malformed */
export function receiptIn(value: unknown): Receipt | undefined {
  if (!isObject(value) || typeof value['blockHash'] !== 'string') return undefined
  const logs = Array.isArray(value['logs']) ? value['logs'] : []
  const price = value['effectiveGasPrice']
  return {
    hash: bytesIn(value['transactionHash']),
    ok: numberIn(value['status']) === 1,
    block: numberIn(value['blockNumber']),
    blockHash: bytesIn(value['blockHash']),
    gasUsed: bigIn(value['gasUsed']),
    costWei: price === undefined ? undefined : bigIn(value['gasUsed']) * bigIn(price),
    logs: logs.filter(isObject).map((log) => ({
      address: bytesIn(log['address']) as Wallet,
      topics: Array.isArray(log['topics']) ? log['topics'].map(bytesIn) : [],
      data: bytesIn(log['data']),
    })),
  }
}

/** Identifies a transfer among a token's events. */
export type Movement = { readonly from: Wallet; readonly to: Wallet; readonly value: bigint; readonly nonce: Hex }

/**
 * How a transaction used an authorization. `moved`: the wanted transfer follows `AuthorizationUsed`. `other`: a
 * different event follows it, or none. `none`: the authorization was not used.
 */
export function movementIn(logs: readonly EventLog[], token: Wallet, wanted: Movement): 'moved' | 'other' | 'none' {
  const own = logs.filter(({ address }) => address === token)
  const used = own.findIndex(
    ({ topics: [name, authorizer, nonce] }) =>
      name === topics.used && authorizer === addressTopic(wanted.from) && nonce === wanted.nonce,
  )
  if (used < 0) return 'none'
  const next = own[used + 1]
  const isTransfer =
    next?.topics[0] === topics.transfer &&
    walletIn(next.topics[1]) === wanted.from &&
    walletIn(next.topics[2]) === wanted.to &&
    next.data.length === WORD_HEX &&
    BigInt(next.data) === wanted.value
  return isTransfer ? 'moved' : 'other'
}
