import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { type Hex, toWallet, type Wallet } from '../../../../src/core/hex.ts'
import { everyRow } from '../../../store/each-page.ts'
import type { Scalar, Store, Tx } from '../../../store/port.ts'
import {
  type AnchorOrder,
  type FeedbackOrder,
  type IdentityRegistry,
  isOutOfRange,
  type Rated,
  type ReputationRegistry,
  registryName,
  type SummaryQuery,
  summaryOf,
  type VerdictAnchors,
  type WriteResult,
} from '../registries.ts'
import {
  type SandboxRegistriesRow,
  sandboxAgents,
  sandboxAnchors,
  sandboxFeedback,
  sandboxRegistries,
} from './registry-rows.ts'

const REGISTRIES_ID = 'registries'
const ADDRESS_BYTES = 20
/** Feedback entries per read. */
const PAGE = 1_000

type Parts = {
  readonly store: Store
  readonly entropy: (bytes: number) => Uint8Array
  readonly wall: () => number
  readonly chainId: number
  /** The marketplace's wallet. */
  readonly client: Wallet
}

/** ERC-8004 registries in the store, with the reference contracts' rules. Each installation has its own addresses. */
export async function openSandboxRegistries(parts: Parts) {
  const row = await openRow(parts)
  return {
    identityRegistry: identityRegistry(parts, row),
    reputationRegistry: reputationRegistry(parts, row),
    verdictAnchors: verdictAnchors(parts, row),
  }
}

async function openRow({ store, entropy }: Parts): Promise<SandboxRegistriesRow> {
  const existing = await store.table(sandboxRegistries).get(REGISTRIES_ID)
  if (existing !== undefined) return existing
  const [identity, reputation, anchors] = [drawAddress(entropy), drawAddress(entropy), drawAddress(entropy)]
  return await store.tx(async (t) => {
    const table = t.table(sandboxRegistries)
    const draft = { id: REGISTRIES_ID, identity, reputation, anchors, next_agent: 0 } as const
    return (await table.getForUpdate(REGISTRIES_ID)) ?? (await table.insert(draft))
  })
}

function identityRegistry({ store, wall, chainId }: Parts, row: SandboxRegistriesRow): Required<IdentityRegistry> {
  const name = registryName(chainId, row.identity)
  return {
    address: row.identity,
    name,
    ownerOf: async (asked, agentId) => {
      if (asked.toLowerCase() !== name) return undefined
      return (await store.table(sandboxAgents).get(String(agentId)))?.owner
    },
    mint: async (wallet) => {
      const at = wall()
      return await store.tx(async (t) => {
        const { next_agent } = await t.table(sandboxRegistries).increment(REGISTRIES_ID, 'next_agent', 1)
        const agent = next_agent - 1
        await t.table(sandboxAgents).insert({ id: String(agent), owner: wallet, at })
        return BigInt(agent)
      })
    },
  }
}

function reputationRegistry({ store, wall, chainId, client }: Parts, row: SandboxRegistriesRow): ReputationRegistry {
  return {
    address: row.reputation,
    name: registryName(chainId, row.reputation),
    client,
    clients: () => [client],
    giveFeedback: async (order) => {
      const at = wall()
      return await store.tx((t) => giveFeedback(t, { order, at, contract: row.reputation }))
    },
    getSummary: async (query) => {
      if (query.clients.length === 0) throw new RangeError('clientAddresses required')
      return await summary(store, query)
    },
    secondTags: async ({ agentId, client, tag1 }) => {
      const rows = await feedbackOf(store, [String(agentId), client, tag1])
      return [...new Set(rows.map((given) => given.tag2))].sort()
    },
  }
}

type Giving = { readonly order: FeedbackOrder; readonly at: number; readonly contract: Wallet }

async function giveFeedback(t: Tx, { order, at, contract }: Giving): Promise<WriteResult> {
  const { id, agentId, client, value, valueDecimals, tag1, tag2, endpoint, uri, hash } = order
  const agent_id = String(agentId)
  const done = await t.table(sandboxFeedback).get(id)
  if (done !== undefined) {
    const same = done.agent_id === agent_id && done.client === client && done.hash === hash && done.value === value
    return same ? { ok: true, transaction: done.transaction, already: true } : { ok: false, failure: 'id_reused' }
  }
  if (isOutOfRange(value, valueDecimals)) return { ok: false, failure: 'value_out_of_range' }
  const agent = await t.table(sandboxAgents).get(agent_id)
  if (agent === undefined) return { ok: false, failure: 'unknown_agent' }
  if (agent.owner === client) return { ok: false, failure: 'self_feedback' }
  const index = (await t.table(sandboxFeedback).count('agent', [agent_id, client])) + 1
  const transaction = transactionOf([contract, id, agent_id, client, index, value, valueDecimals, tag1, tag2, hash])
  const said = { value, value_decimals: valueDecimals, tag1, tag2, endpoint, uri, hash }
  await t.table(sandboxFeedback).insert({ id, agent_id, client, index, ...said, transaction, at })
  return { ok: true, transaction, already: false }
}

async function summary(store: Store, { agentId, clients, tag1, tag2 }: SummaryQuery) {
  const rated: Rated[] = []
  for (const client of new Set(clients)) {
    const prefix = [String(agentId), client, ...(tag1 === '' ? [] : [tag1])]
    const rows = await feedbackOf(store, prefix)
    rated.push(...rows.filter((row) => tag2 === '' || row.tag2 === tag2))
  }
  return summaryOf(rated)
}

async function feedbackOf(store: Store, prefix: readonly Scalar[]) {
  return store.read((t) => everyRow(t.table(sandboxFeedback), { index: 'agent', prefix, limit: PAGE }))
}

function verdictAnchors({ store, wall }: Parts, row: SandboxRegistriesRow): VerdictAnchors {
  return {
    address: row.anchors,
    anchor: async (order) => {
      const at = wall()
      return await store.tx((t) => anchor(t, { order, at, contract: row.anchors }))
    },
    latest: async (subject, limit) => {
      const { rows } = await store.table(sandboxAnchors).page('subject', [subject], { limit })
      return rows.map(({ id: _, version: __, ...shown }) => shown)
    },
  }
}

type Anchoring = { readonly order: AnchorOrder; readonly at: number; readonly contract: Wallet }

async function anchor(t: Tx, { order, at, contract }: Anchoring): Promise<WriteResult> {
  const { id, subject, root, uri } = order
  const done = await t.table(sandboxAnchors).get(id)
  if (done !== undefined) {
    const same = done.subject === subject && done.root === root
    return same ? { ok: true, transaction: done.transaction, already: true } : { ok: false, failure: 'id_reused' }
  }
  const seq = (await t.table(sandboxAnchors).count('subject', [subject])) + 1
  const transaction = transactionOf([contract, id, subject, root, seq])
  await t.table(sandboxAnchors).insert({ id, subject, root, seq, uri, transaction, at })
  return { ok: true, transaction, already: false }
}

function drawAddress(entropy: Parts['entropy']): Wallet {
  return toWallet(`0x${bytesToHex(entropy(ADDRESS_BYTES))}`)
}

/** keccak-256 of the written data. The data includes an id, so the hash is unique. */
function transactionOf(parts: readonly (string | number | bigint)[]): Hex {
  return `0x${bytesToHex(keccak_256(utf8ToBytes(['sandbox', ...parts].join('\n'))))}`
}
