import type { Hex } from '../../../../../src/core/hex.ts'
import { isObject } from '../../../../../src/core/json.ts'

/** No node gave a reliable answer. */
export class RpcUnavailableError extends Error {
  override readonly name = 'RpcUnavailableError'
}

/** Kinds of request failures, for metrics. */
export type RpcFault = 'timeout' | 'cut' | 'status' | 'malformed' | 'too_large' | 'behind'

/** One request to one node failed. */
export class EndpointFailed extends Error {
  override readonly name = 'EndpointFailed'
  readonly kind: RpcFault
  constructor(kind: RpcFault, message: string) {
    super(message)
    this.kind = kind
  }
}

const HEX_SHAPE = /^0x[0-9a-fA-F]*$/

/** A number in JSON-RPC form. */
export function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

export function isHex(value: unknown): value is Hex {
  return typeof value === 'string' && HEX_SHAPE.test(value)
}

/** Hex bytes in a node's answer, in lower case. @throws RpcUnavailableError if invalid */
export function bytesIn(value: unknown): Hex {
  if (!isHex(value)) throw new RpcUnavailableError('the node sent no bytes where bytes are expected')
  return `0x${value.slice(2).toLowerCase()}`
}

/** The number in a node's answer. @throws RpcUnavailableError if invalid */
export function bigIn(value: unknown): bigint {
  if (!isHex(value) || value.length < 3)
    throw new RpcUnavailableError('the node sent no number where a number is expected')
  return BigInt(value)
}

export function numberIn(value: unknown): number {
  const number = Number(bigIn(value))
  if (!Number.isSafeInteger(number)) throw new RpcUnavailableError('the node sent a number out of range')
  return number
}

/** The latest block as a node sees it. */
export type Head = ReturnType<typeof headIn>

/** @throws RpcUnavailableError if invalid */
export function headIn(block: unknown) {
  if (!isObject(block)) throw new RpcUnavailableError('the node sent no block')
  return {
    number: numberIn(block['number']),
    hash: bytesIn(block['hash']),
    parent: isHex(block['parentHash']) ? bytesIn(block['parentHash']) : undefined,
    /** Unix seconds. */
    timestamp: numberIn(block['timestamp']),
    /** Wei per gas; 0 without a base fee. */
    baseFee: block['baseFeePerGas'] === undefined ? 0n : bigIn(block['baseFeePerGas']),
  }
}
