import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keccak256 as viemKeccak } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documents } from '../../daemon/features/reputation/rows.ts'
import { openRemoteMarket, type RemoteMarket } from '../../fixtures/kit/remote-market.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'
import { countReputation, endedJobs, linkIdentity } from '../../fixtures/market/reputation-run.ts'

// @story a seller and the evidence that grows

/* Whom to trust, asked at the command line. */

const STRANGER = `0x${'00'.repeat(19)}a1`
let shop: RemoteMarket
let good: Person
let bad: Person
let job: string

beforeAll(async () => {
  shop = await openRemoteMarket()
  await shop.json(['wallet', 'new', 'ann'])
  await shop.json(['wallet', 'fund', 'ann'])
  const { ctx } = shop.market.daemon
  good = await registered(shop.market, { type: 'provider' })
  bad = await registered(shop.market, { type: 'provider' })
  await linkIdentity(ctx, good)
  const failed = { status: 'failed', completed_at: null, provider_id: bad.id } as const
  const [first] = await endedJobs(ctx, [
    ...Array.from({ length: 6 }, () => ({ provider_id: good.id })),
    ...Array.from({ length: 6 }, () => failed),
  ])
  job = first ?? ''
  await countReputation(ctx)
})
afterAll(() => shop.market.close())

const trust = (...words: string[]) => shop.souk(['trust', ...words])
const told = (...words: string[]) => shop.json(['trust', ...words])

test('one wallet is told as one object, several as a list', async () => {
  const one = await told(good.account.address)
  expect(one).toMatchObject({ verdict: 'verified', score: 100, level: 3, wallet: good.account.address })
  expect(await told(good.id)).toEqual(one)
  expect(await told('show', good.account.address, '--fields', 'verdict,score')).toEqual({
    verdict: 'verified',
    score: 100,
  })
  const three = await told(good.account.address, bad.id, STRANGER)
  expect(three.total).toBe(3)
  expect(three.verdicts.map(({ verdict }: { verdict: string }) => verdict)).toEqual(['verified', 'withheld', 'unknown'])
})

test('more than a batch of wallets come in order', async () => {
  const strangers = Array.from({ length: 41 }, (_, i) => `0x${String(i + 100).padStart(40, '0')}`)
  const { verdicts, total } = await told(...strangers, good.account.address)
  expect(total).toBe(42)
  expect(verdicts.map(({ wallet }: { wallet: string }) => wallet.toLowerCase())).toEqual([
    ...strangers,
    good.account.address.toLowerCase(),
  ])
})

test('a table shows verdict, score, level and confidence', async () => {
  const { out } = await trust(good.account.address, STRANGER)
  expect(out).toContain('verified')
  expect(out).toContain('3 job_proven')
  expect(out).toContain('0 indexed')
})

describe('an exit status', () => {
  test.each<[string, () => string[], number]>([
    ['of a verified wallet is 0', () => [good.id, '--exit-status'], 0],
    ['of an unknown one is 11', () => [STRANGER, '--exit-status'], 11],
    ['of one among others that is withheld is 11', () => [good.id, bad.id, '--exit-status'], 11],
    ['with a score that is reached is 0', () => [good.id, '--exit-status', '--min-score', '50'], 0],
    ['with a score that nobody knows is 11', () => [STRANGER, '--exit-status', '--min-score', '0'], 11],
    ['that was not asked for is 0', () => [bad.id], 0],
    ['of what is no wallet is 2', () => ['0x12'], 2],
    ['of nothing is 2', () => [], 2],
    ['of a score without it is 2', () => [good.id, '--min-score', '50'], 2],
    ['of a score that there is not is 2', () => [good.id, '--exit-status', '--min-score', '101'], 2],
    ['of an id that nobody has is 3', () => ['p_0000000000000000'], 3],
  ])('%s', async (_, words, exit) => {
    expect((await trust(...words())).code).toBe(exit)
  })
})

test('the chain is read for half a cent, and leads to the evidence, which is checked', async () => {
  const onchain = await told('onchain', good.id, '--as', 'ann', '--pay', 'x402')
  expect(onchain.call_payment).toEqual({ method: 'x402', amount: '0.005', asset: 'USDC' })
  expect(onchain.summaries[0]).toMatchObject({ tag1: 'starred', tag2: '', count: 6 })
  const { root } = onchain.anchors[0]
  const file = join(shop.market.dir, 'evidence.json')
  const evidence = await told('evidence', root, '--check', '--save', file)
  expect(evidence).toMatchObject({ hash: root, computed: root, ok: true, document: { subject_id: good.id } })
  expect(viemKeccak(readFileSync(file))).toBe(root)
  expect((await told('evidence', good.id)).hash).toBe(root)
  expect((await told(good.id)).evidence_root).toBe(root)
  expect((await trust('evidence', STRANGER)).code).toBe(3)
  expect((await trust('onchain', STRANGER, '--as', 'ann')).code).toBe(3)
  expect((await trust('onchain', good.id, '--pay', 'none')).code).toBe(5)
})

test('the faucet of a sandbox registers identities', async () => {
  const { identity } = await shop.json(['wallet', 'fund', 'ann', '--identity'])
  const { identityRegistry } = shop.market.daemon.ctx.chain
  expect(identity).toEqual({ agent_registry: identityRegistry.name, agent_id: '1' })
  const { address } = (await shop.json(['wallet', 'show', 'ann'])) as { address: string }
  expect(await identityRegistry.ownerOf(identity.agent_registry, 1n)).toBe(address.toLowerCase())
  expect((await shop.json(['wallet', 'fund', 'ann'])).identity).toBeNull()
})

test('a feedback file is checked, too', async () => {
  const { ok, document, hash } = await told('feedback', job, '--check')
  expect([ok, document.tag1]).toEqual([true, 'starred'])
  expect((await told('feedback', job)).ok).toBeNull()
  const shown = await trust('feedback', job, '--check')
  expect(shown.out).toContain(hash)
  expect((await trust('feedback', 'job_0000000000000000')).code).toBe(3)
  expect((await trust('evidence', `0x${'0'.repeat(64)}`)).code).toBe(3)
  expect((await trust('evidence', '0x12')).code).toBe(2)
})

test('bytes that are not what their name says are told, with exit 11', async () => {
  const { store } = shop.market.daemon.ctx
  await store.tx(async (t) => {
    const row = await t.table(documents).getForUpdate(`feedback:${job}`)
    if (row) await t.table(documents).put({ ...row, text: row.text.replace('starred', 'starree') })
  })
  const { code, out } = await trust('feedback', job, '--check', '--json')
  expect([code, JSON.parse(out).ok]).toEqual([11, false])
})
