import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Hex, Wallet } from '../../../../src/core/hex.ts'
import { SECOND_MS } from '../../../../src/core/time.ts'
import {
  type Anchor,
  type AnchorOrder,
  type FeedbackOrder,
  type IdentityRegistry,
  isOutOfRange,
  type ReputationRegistry,
  registryName,
  type SummaryQuery,
  type VerdictAnchors,
  type WriteResult,
} from '../registries.ts'
import type { OrderOutcome, TxQueue } from './queue/queue.ts'
import { CallReverted, type FoundLog, type Reads } from './reads.ts'
import { decodeValues, encodeCall, method, topicOf } from './rpc/abi.ts'
import { headIn, quantity } from './rpc/values.ts'

const ownerOf = method('ownerOf', ['uint256'], ['address'])
const registerFor = method('registerFor', ['address'], ['uint256'])
const mayActFor = method('isAuthorizedOrOwner', ['address', 'uint256'], ['bool'])
const giveFeedback = method(
  'giveFeedback',
  ['uint256', 'int128', 'uint8', 'string', 'string', 'string', 'string', 'bytes32'],
  [],
)
const getSummary = method('getSummary', ['uint256', 'address[]', 'string', 'string'], ['uint64', 'int128', 'uint8'])
const readAllFeedback = method(
  'readAllFeedback',
  ['uint256', 'address[]', 'string', 'string', 'bool'],
  ['address[]', 'uint64[]', 'int128[]', 'uint8[]', 'string[]', 'string[]', 'bool[]'],
)
const anchor = method('anchor', ['bytes32', 'bytes32', 'bytes32', 'string'], [])
const isDone = method('done', ['bytes32'], ['bool'])
const REGISTERED = topicOf('Registered(uint256,string,address)')
const ANCHORED = topicOf('VerdictAnchored(bytes32,bytes32,uint64,string)')
const GIVEN = topicOf('NewFeedback(uint256,address,uint64,int128,uint8,string,string,string,string,string,bytes32)')

export type RegistryParts = {
  readonly reads: Reads
  readonly queue: Pick<TxQueue, 'call'>
  readonly chainId: number
  /** Wallets that register identities, give feedback and anchor verdicts, and their contracts for anchors. */
  readonly gas: { readonly senders: readonly Wallet[]; readonly anchors: readonly Wallet[] }
  readonly addresses: { readonly identity: Wallet; readonly reputation: Wallet }
  /** Whether identities can be registered for free, which requires test money. */
  readonly mints: boolean
}

/** ERC-8004 registries and anchors of a connected chain. */
export function openRegistries(parts: RegistryParts) {
  return {
    identityRegistry: identityRegistry(parts),
    reputationRegistry: reputationRegistry(parts),
    verdictAnchors: verdictAnchors(parts),
  }
}

function newest([first]: readonly Wallet[]): Wallet {
  if (first === undefined) throw new Error('this chain has no gas key')
  return first
}

async function ownerIn({ reads, addresses }: RegistryParts, agentId: bigint): Promise<Wallet | undefined> {
  try {
    return (await reads.call({ to: addresses.identity, method: ownerOf, values: [agentId] }))[0]
  } catch (error) {
    if (error instanceof CallReverted) return undefined
    throw error
  }
}

function identityRegistry(parts: RegistryParts): IdentityRegistry {
  const { queue, chainId, addresses, mints } = parts
  const to = addresses.identity
  const name = registryName(chainId, to)
  const mint = async (wallet: Wallet): Promise<bigint> => {
    const id = `identity:${wallet}:${crypto.randomUUID()}`
    const outcome = await queue.call({ id, to, data: encodeCall(registerFor, [wallet]) })
    const logs = outcome.ok ? outcome.logs : []
    const [, agentId] = logs.find(({ topics }) => topics[0] === REGISTERED)?.topics ?? []
    if (agentId === undefined) throw new Error('the registry created no identity')
    return BigInt(agentId)
  }
  return {
    address: to,
    name,
    ownerOf: async (asked, agentId) => (asked.toLowerCase() === name ? ownerIn(parts, agentId) : undefined),
    ...(mints ? { mint } : {}),
  }
}

function reputationRegistry(parts: RegistryParts): ReputationRegistry {
  const { reads, chainId, gas, addresses } = parts
  const to = addresses.reputation
  return {
    address: to,
    name: registryName(chainId, to),
    get client() {
      return newest(gas.senders)
    },
    clients: () => gas.senders,
    giveFeedback: (order) => give(parts, order),
    getSummary: async ({ agentId, clients, tag1, tag2 }: SummaryQuery) => {
      if (clients.length === 0) throw new RangeError('clientAddresses required')
      const values = [agentId, [...new Set(clients)], tag1, tag2] as const
      const [count, value, decimals] = await reads.call({ to, method: getSummary, values })
      return { count, value, valueDecimals: Number(decimals) }
    },
    secondTags: async ({ agentId, client, tag1 }) => {
      const values = [agentId, [client], tag1, '', false] as const
      const [, , , , , tags] = await reads.call({ to, method: readAllFeedback, values })
      return [...new Set(tags)].sort()
    },
  }
}

async function give(parts: RegistryParts, order: FeedbackOrder): Promise<WriteResult> {
  const { reads, queue, addresses, gas } = parts
  const sender = newest(gas.senders)
  const { agentId, value, valueDecimals, tag1, tag2, endpoint, uri, hash } = order
  if (!gas.senders.includes(order.client))
    throw new RangeError(`feedback must come from ${sender}, not from ${order.client}`)
  if (isOutOfRange(value, valueDecimals)) return { ok: false, failure: 'value_out_of_range' }
  const values = [agentId, value, BigInt(valueDecimals), tag1, tag2, endpoint, uri, hash] as const
  const data = encodeCall(giveFeedback, values)
  const outcome = await queue.call({ id: `feedback:${order.id}`, to: addresses.reputation, data })
  if (outcome.ok) {
    const log = outcome.logs.find(({ address, topics }) => address === addresses.reputation && topics[0] === GIVEN)
    return written(outcome, log !== undefined && isOf(log, { agentId, value, hash }))
  }
  if (outcome.failure === 'unavailable') return { ok: false, failure: 'unavailable' }
  if ((await ownerIn(parts, agentId)) === undefined) return { ok: false, failure: 'unknown_agent' }
  const [isSelf] = await reads.call({ to: addresses.identity, method: mayActFor, values: [sender, agentId] })
  return { ok: false, failure: isSelf ? 'self_feedback' : 'unavailable' }
}

type Event = Pick<FoundLog, 'topics' | 'data'>

/** Whether an event has the content of an order. Other content means that another order used the same id. */
function isOf({ topics, data }: Event, said: Pick<FeedbackOrder, 'agentId' | 'value' | 'hash'>): boolean {
  const types = ['uint64', 'int128', 'uint8', 'string', 'string', 'string', 'string', 'bytes32'] as const
  const [, value, , , , , , hash] = decodeValues(types, data)
  return BigInt(topics[1] ?? -1) === said.agentId && value === said.value && hash === said.hash
}

function written({ transaction, already }: Extract<OrderOutcome, { ok: true }>, isSame: boolean): WriteResult {
  return isSame ? { ok: true, transaction, already } : { ok: false, failure: 'id_reused' }
}

function verdictAnchors(parts: RegistryParts): VerdictAnchors {
  const { reads, gas } = parts
  return {
    get address() {
      return newest(gas.anchors)
    },
    anchor: (order) => enter(parts, order),
    latest: async (subject, limit) => {
      const logs = await reads.newestLogs({ address: gas.anchors, topics: [ANCHORED, subject] }, limit)
      return Promise.all(logs.map((log) => anchorIn(reads, log)))
    },
  }
}

async function enter({ reads, queue, gas }: RegistryParts, order: AnchorOrder): Promise<WriteResult> {
  const { subject, root, uri } = order
  const to = newest(gas.anchors)
  const id: Hex = `0x${bytesToHex(keccak_256(utf8ToBytes(order.id)))}`
  const outcome = await queue.call({ id: `anchor:${order.id}`, to, data: encodeCall(anchor, [id, subject, root, uri]) })
  if (outcome.ok) {
    const log = outcome.logs.find(({ address, topics }) => address === to && topics[0] === ANCHORED)
    return written(outcome, log?.topics[1] === subject && log.topics[2] === root)
  }
  if (outcome.failure === 'unavailable') return { ok: false, failure: 'unavailable' }
  const [done] = await reads.call({ to, method: isDone, values: [id] })
  if (!done) return { ok: false, failure: 'unavailable' }
  // An earlier store of this marketplace may have anchored the same id, which the contract accepts only once.
  const [log] = await reads.newestLogs({ address: to, topics: [ANCHORED, subject, root] }, 1)
  return log ? { ok: true, transaction: log.transaction, already: true } : { ok: false, failure: 'id_reused' }
}

async function anchorIn(reads: Reads, { topics, data, transaction, block }: FoundLog): Promise<Anchor> {
  const [, subject = '0x', root = '0x'] = topics
  const [seq, uri] = decodeValues(['uint64', 'string'], data)
  const { timestamp } = headIn((await reads.ask('eth_getBlockByNumber', [quantity(block), false])).result)
  return { subject, root, seq: Number(seq), uri, transaction, at: timestamp * SECOND_MS }
}
