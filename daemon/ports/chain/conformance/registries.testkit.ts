import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Wallet } from '../../../../src/core/hex.ts'
import type { FeedbackOrder, IdentityRegistry, ReputationRegistry, VerdictAnchors } from '../registries.ts'
import { type ChainBench, hashOf, newPerson, type OpenBench } from './bench.testkit.ts'

type Registries = {
  readonly identities: IdentityRegistry
  readonly feedback: ReputationRegistry
  readonly anchors: VerdictAnchors
  readonly register: (wallet: Wallet) => Promise<bigint>
}

/** What the registries of every chain do, by the rules of the reference contracts. */
export function registryConformance(open: OpenBench): void {
  let bench: ChainBench
  beforeEach(async () => {
    bench = await open()
  })
  afterEach(() => bench.close())

  const registries = (): Registries => {
    const { identityRegistry: identities, reputationRegistry: feedback, verdictAnchors: anchors } = bench.chain
    const { mint } = identities
    if (!mint) throw new Error('this chain registers nobody')
    return { identities, feedback, anchors, register: mint }
  }

  identifying(() => bench, registries)
  rating(() => bench, registries)
  anchoring(() => bench, registries)
}

function identifying(bench: () => ChainBench, registries: () => Registries): void {
  test('the first identity has id 0, and each is owned by who registered', async () => {
    const [owner, stranger] = [newPerson().wallet, newPerson().wallet]
    const { identities, register } = registries()
    const { address, name } = identities
    expect(await identities.ownerOf(name, 0n)).toBeUndefined()
    expect([await register(owner), await register(stranger)]).toEqual([0n, 1n])
    await bench().reopen()
    const { identities: reopened } = registries()
    expect(reopened.address).toBe(address)
    expect(await reopened.ownerOf(name.toUpperCase(), 0n)).toBe(owner)
    expect(await reopened.ownerOf(name, 1n)).toBe(stranger)
    expect(await reopened.ownerOf(`eip155:1:${address}`, 1n)).toBeUndefined()
    expect(name).toBe(`eip155:${bench().chain.chainId}:${address}`)
  })
}

function order({ feedback }: Registries, change: Partial<FeedbackOrder> & { id: string }): FeedbackOrder {
  return {
    agentId: 0n,
    client: feedback.client,
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

function rating(bench: () => ChainBench, registries: () => Registries): void {
  test('summaries are those of the reference registry', async () => {
    const all = registries()
    const { feedback, register } = all
    const { client } = feedback
    await register(newPerson().wallet)
    await feedback.giveFeedback(order(all, { id: 'a', value: 87n }))
    await feedback.giveFeedback(order(all, { id: 'b', value: 9_000n, valueDecimals: 2, tag2: 'human_service' }))
    const ask = (tag1: string, tag2: string, clients = [client]) =>
      feedback.getSummary({ agentId: 0n, clients, tag1, tag2 })
    expect(await ask('starred', '')).toEqual({ count: 2n, value: 88n, valueDecimals: 0 })
    expect(await ask('starred', 'data_api')).toEqual({ count: 1n, value: 87n, valueDecimals: 0 })
    await feedback.giveFeedback(order(all, { id: 'c', value: 1n, tag1: 'successRate' }))
    expect(await ask('', 'data_api')).toEqual({ count: 2n, value: 44n, valueDecimals: 0 })
    expect(await ask('uptime', '')).toEqual({ count: 0n, value: 0n, valueDecimals: 0 })
    expect(await ask('starred', '', [newPerson().wallet])).toEqual({ count: 0n, value: 0n, valueDecimals: 0 })
    expect(await ask('starred', '', [client, client])).toMatchObject({ count: 2n })
    await expect(ask('starred', '', [])).rejects.toThrow('clientAddresses required')
    const tags = await feedback.secondTags({ agentId: 0n, client, tag1: 'starred' })
    expect(tags).toEqual(['data_api', 'human_service'])
  })

  test.each([
    { name: 'of an agent that is none', change: { agentId: 7n }, failure: 'unknown_agent' },
    { name: 'of itself', change: { agentId: 1n }, failure: 'self_feedback' },
    { name: 'with 19 decimals', change: { valueDecimals: 19 }, failure: 'value_out_of_range' },
    { name: 'beyond the range', change: { value: -(10n ** 38n) - 1n }, failure: 'value_out_of_range' },
  ] as const)('feedback $name is refused', async ({ change, failure }) => {
    const all = registries()
    const { feedback, register } = all
    await register(newPerson().wallet)
    await register(feedback.client)
    expect(await feedback.giveFeedback(order(all, { id: 'a', ...change }))).toEqual({ ok: false, failure })
    const clients = [feedback.client]
    expect(await feedback.getSummary({ agentId: 0n, clients, tag1: '', tag2: '' })).toMatchObject({ count: 0n })
  })

  test('feedback is given once for its id, also after a crash', async () => {
    const all = registries()
    await all.register(newPerson().wallet)
    const first = await all.feedback.giveFeedback(order(all, { id: 'a' }))
    expect(first).toMatchObject({ ok: true, already: false })
    expect(await all.feedback.giveFeedback(order(all, { id: 'a' }))).toEqual({ ...first, already: true })
    await bench().reopen()
    const { feedback } = registries()
    expect(await feedback.giveFeedback(order(all, { id: 'a' }))).toEqual({ ...first, already: true })
    const other = await feedback.giveFeedback(order(all, { id: 'a', hash: hashOf(2) }))
    expect(other).toEqual({ ok: false, failure: 'id_reused' })
    const summary = await feedback.getSummary({ agentId: 0n, clients: [feedback.client], tag1: '', tag2: '' })
    expect(summary.count).toBe(1n)
  })
}

function anchoring(bench: () => ChainBench, registries: () => Registries): void {
  test('anchors of a subject are numbered, once for each id', async () => {
    const anchor = (id: string, root: number) =>
      registries().anchors.anchor({ id, subject: hashOf(9), root: hashOf(root), uri: `u${root}` })
    const first = await anchor('a', 1)
    expect(await anchor('a', 1)).toEqual({ ...first, already: true })
    await bench().reopen()
    expect(await anchor('a', 1)).toEqual({ ...first, already: true })
    expect(await anchor('a', 2)).toEqual({ ok: false, failure: 'id_reused' })
    const second = await anchor('b', 2)
    const { anchors } = registries()
    const shown = await anchors.latest(hashOf(9), 10)
    expect(shown.map(({ seq, root, uri }) => ({ seq, root, uri }))).toEqual([
      { seq: 2, root: hashOf(2), uri: 'u2' },
      { seq: 1, root: hashOf(1), uri: 'u1' },
    ])
    expect(shown.map(({ transaction }) => transaction)).toEqual(
      [second, first].map((result) => result.ok && result.transaction),
    )
    for (const { at } of shown) expect(Math.abs(at / 1_000 - bench().seconds())).toBeLessThan(600)
    expect(await anchors.latest(hashOf(9), 1)).toHaveLength(1)
    expect(await anchors.latest(hashOf(8), 10)).toEqual([])
  })
}
