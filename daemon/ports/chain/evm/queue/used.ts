import type { Authorization } from '../../../../../src/core/authorization.ts'
import type { Hex } from '../../../../../src/core/hex.ts'
import { type AnyObject, isObject } from '../../../../../src/core/json.ts'
import { addressTopic } from '../rpc/abi.ts'
import { bytesIn, numberIn, quantity, RpcUnavailableError } from '../rpc/values.ts'
import { topics } from './calldata.ts'
import type { Core } from './core.ts'
import { movementIn, receiptIn } from './receipt.ts'

/** Blocks per search: the limit of hosted nodes. */
const SLICE_BLOCKS = 2_000
/** Maximum number of searches. Together they cover about two days of 2 s blocks. The newest blocks come first. */
const MAX_SLICES = 50

export type Use =
  | { readonly how: 'moved' | 'other' | 'cancelled'; readonly transaction: Hex; readonly block: number }
  | undefined

export type Searched = {
  readonly authorization: Pick<Authorization, 'from' | 'to' | 'value' | 'nonce'>
  readonly since?: number | undefined
}

/** Finds the event by which an authorization was used or cancelled, if any. @throws RpcUnavailableError */
export async function findUse(core: Core, work: Searched): Promise<Use> {
  const { number: head } = (await core.options.rpc.read([])).head
  const oldest = Math.max(0, work.since ?? head - SLICE_BLOCKS * MAX_SLICES)
  for (let to = head; to >= oldest; to -= SLICE_BLOCKS) {
    const found = await search(core, work, { from: Math.max(oldest, to - SLICE_BLOCKS + 1), to })
    if (found) return found
  }
  return undefined
}

async function search(core: Core, work: Searched, blocks: { from: number; to: number }): Promise<Use> {
  const { token, rpc } = core.options
  const { from, nonce } = work.authorization
  const filter = {
    address: token,
    fromBlock: quantity(blocks.from),
    toBlock: quantity(blocks.to),
    topics: [[topics.used, topics.cancelled], addressTopic(from), nonce],
  }
  const logs = await rpc.ask('eth_getLogs', [filter])
  if (!Array.isArray(logs)) throw new RpcUnavailableError('the node did not return a list of events')
  const event: AnyObject | undefined = logs.findLast(isObject)
  if (!event) return undefined
  const transaction = bytesIn(event['transactionHash'])
  const block = numberIn(event['blockNumber'])
  const [name] = Array.isArray(event['topics']) ? event['topics'] : []
  if (name === topics.cancelled) return { how: 'cancelled', transaction, block }
  const receipt = receiptIn(await rpc.ask('eth_getTransactionReceipt', [transaction]))
  if (!receipt) throw new RpcUnavailableError('the node has no receipt for an event that it returned')
  return {
    how: movementIn(receipt.logs, token, work.authorization) === 'moved' ? 'moved' : 'other',
    transaction,
    block,
  }
}
