import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Hex, toWallet } from '../../../../src/core/hex.ts'
import { openMemoryStore } from '../../../store/memory/open.ts'
import type { Store } from '../../../store/port.ts'
import { summaryOf } from '../feedback-summary.ts'
import type { FeedbackOrder } from '../registries.ts'
import { openSandboxRegistries } from './registries.ts'
import { sandboxRegistryCollections } from './registry-rows.ts'

const walletOf = (n: number) => toWallet(`0x${String(n).repeat(40)}`)
const hashOf = (n: number): Hex => `0x${String(n).repeat(64)}`
const [owner, client, stranger] = [walletOf(1), walletOf(2), walletOf(3)]

async function open(store: Store = openMemoryStore([...sandboxRegistryCollections]), seed = 'one') {
  let drawn = 0
  const entropy = (bytes: number) => createHash('sha256').update(`${seed}${drawn++}`).digest().subarray(0, bytes)
  return { store, ...(await openSandboxRegistries({ store, entropy, wall: () => 1_000, chainId: 8453 })) }
}

function order(change: Partial<FeedbackOrder> & { id: string }): FeedbackOrder {
  return {
    agentId: 0n,
    client,
    value: 87n,
    valueDecimals: 0,
    tag1: 'starred',
    tag2: 'data_api',
    endpoint: '',
    uri: 'http://127.0.0.1/v1/reputation/feedback/job_1.json',
    hash: hashOf(1),
    ...change,
  }
}

test('the first identity has id 0, and each is owned by who registered', async () => {
  const { identityRegistry, store } = await open()
  expect(await identityRegistry.ownerOf(identityRegistry.name, 0n)).toBeUndefined()
  expect([await identityRegistry.mint(owner), await identityRegistry.mint(stranger)]).toEqual([0n, 1n])
  const { identityRegistry: reopened } = await open(store, 'two')
  expect(reopened.address).toBe(identityRegistry.address)
  expect(await reopened.ownerOf(reopened.name.toUpperCase(), 0n)).toBe(owner)
  expect(await reopened.ownerOf(reopened.name, 1n)).toBe(stranger)
  expect(await reopened.ownerOf(`eip155:1:${reopened.address}`, 1n)).toBeUndefined()
  expect(reopened.name).toMatch(/^eip155:8453:0x[0-9a-f]{40}$/)
})

test('another installation has other registries', async () => {
  const [one, other] = [await open(), await open(undefined, 'two')]
  const addresses = [one, other].flatMap(({ identityRegistry, reputationRegistry, verdictAnchors }) => [
    identityRegistry.address,
    reputationRegistry.address,
    verdictAnchors.address,
  ])
  expect(new Set(addresses).size).toBe(6)
})

test('summaries are those of the reference registry', async () => {
  const { identityRegistry, reputationRegistry } = await open()
  await identityRegistry.mint(owner)
  await reputationRegistry.giveFeedback(order({ id: 'a', value: 87n }))
  await reputationRegistry.giveFeedback(order({ id: 'b', value: 9_000n, valueDecimals: 2, tag2: 'human_service' }))
  const ask = (tag1: string, tag2: string, clients = [client]) =>
    reputationRegistry.getSummary({ agentId: 0n, clients, tag1, tag2 })
  expect(await ask('starred', '')).toEqual({ count: 2n, value: 88n, valueDecimals: 0 })
  expect(await ask('starred', 'data_api')).toEqual({ count: 1n, value: 87n, valueDecimals: 0 })
  await reputationRegistry.giveFeedback(order({ id: 'c', value: 1n, tag1: 'successRate' }))
  expect(await ask('', 'data_api')).toEqual({ count: 2n, value: 44n, valueDecimals: 0 })
  expect(await ask('uptime', '')).toEqual({ count: 0n, value: 0n, valueDecimals: 0 })
  expect(await ask('starred', '', [stranger])).toEqual({ count: 0n, value: 0n, valueDecimals: 0 })
  expect(await ask('starred', '', [client, client])).toMatchObject({ count: 2n })
  await expect(ask('starred', '', [])).rejects.toThrow('clientAddresses required')
  expect(await reputationRegistry.secondTags({ agentId: 0n, client, tag1: 'starred' })).toEqual([
    'data_api',
    'human_service',
  ])
})

test('a summary lies between the least and the greatest value, in decimals that were used', () => {
  const rated = fc.record({ value: fc.bigInt({ min: 0n, max: 10n ** 20n }), value_decimals: fc.nat(18) })
  fc.assert(
    fc.property(fc.array(rated, { minLength: 1, maxLength: 12 }), (given) => {
      const { count, value, valueDecimals } = summaryOf(given)
      expect(count).toBe(BigInt(given.length))
      expect(given.map(({ value_decimals }) => value_decimals)).toContain(valueDecimals)
      const scaled = given.map((one) => one.value * 10n ** BigInt(18 - one.value_decimals))
      const [least, most] = [scaled.reduce((a, b) => (a < b ? a : b)), scaled.reduce((a, b) => (a > b ? a : b))]
      const unit = 10n ** BigInt(18 - valueDecimals)
      expect(value * unit).toBeLessThanOrEqual(most)
      expect((value + 1n) * unit).toBeGreaterThan(least)
    }),
  )
})

test.each([
  { name: 'of an agent that is none', change: { agentId: 7n }, failure: 'unknown_agent' },
  { name: 'of its owner', change: { client: owner }, failure: 'self_feedback' },
  { name: 'with 19 decimals', change: { valueDecimals: 19 }, failure: 'value_out_of_range' },
  { name: 'beyond the range', change: { value: -(10n ** 38n) - 1n }, failure: 'value_out_of_range' },
] as const)('feedback $name is refused', async ({ change, failure }) => {
  const { identityRegistry, reputationRegistry } = await open()
  await identityRegistry.mint(owner)
  expect(await reputationRegistry.giveFeedback(order({ id: 'a', ...change }))).toEqual({ ok: false, failure })
  expect(await reputationRegistry.getSummary({ agentId: 0n, clients: [client], tag1: '', tag2: '' })).toMatchObject({
    count: 0n,
  })
})

test('feedback is given once for its id', async () => {
  const { identityRegistry, reputationRegistry } = await open()
  await identityRegistry.mint(owner)
  const first = await reputationRegistry.giveFeedback(order({ id: 'a' }))
  expect(first).toMatchObject({ ok: true, already: false })
  expect(await reputationRegistry.giveFeedback(order({ id: 'a' }))).toEqual({ ...first, already: true })
  const other = await reputationRegistry.giveFeedback(order({ id: 'a', hash: hashOf(2) }))
  expect(other).toEqual({ ok: false, failure: 'id_reused' })
  const summary = await reputationRegistry.getSummary({ agentId: 0n, clients: [client], tag1: '', tag2: '' })
  expect(summary.count).toBe(1n)
})

test('anchors of a subject are numbered, once for each id', async () => {
  const { verdictAnchors } = await open()
  const anchor = (id: string, root: number) =>
    verdictAnchors.anchor({ id, subject: hashOf(9), root: hashOf(root), uri: `u${root}` })
  const first = await anchor('a', 1)
  expect(await anchor('a', 1)).toEqual({ ...first, already: true })
  expect(await anchor('a', 2)).toEqual({ ok: false, failure: 'id_reused' })
  const second = await anchor('b', 2)
  const shown = await verdictAnchors.latest(hashOf(9), 10)
  expect(shown.map(({ seq, root, uri, at }) => ({ seq, root, uri, at }))).toEqual([
    { seq: 2, root: hashOf(2), uri: 'u2', at: 1_000 },
    { seq: 1, root: hashOf(1), uri: 'u1', at: 1_000 },
  ])
  expect(shown.map(({ transaction }) => transaction)).toEqual(
    [second, first].map((result) => result.ok && result.transaction),
  )
  expect(await verdictAnchors.latest(hashOf(8), 10)).toEqual([])
})
