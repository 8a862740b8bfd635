import { afterEach, expect, test, vi } from 'vitest'
import type { Signer } from '../key.ts'
import { type Heart, openHeart } from './status.ts'

/* What a health check reports of nodes, reorganisations and gas. */

const NOW = 1_000_000_000
const MINUTE = 60_000
let heart: Heart | undefined
afterEach(() => heart?.stop())

type Change = {
  readonly queue?: object
  readonly nodes?: readonly object[]
  readonly highest?: number
  readonly wei?: bigint
  readonly gas?: Partial<Signer>
  readonly payTo?: Partial<Signer>
}

async function lookAt({ queue = {}, wei = 10n ** 18n, gas, payTo, ...change }: Change) {
  const { nodes = [{ node: 'a', head: 100 }], highest = 100 } = change
  const quiet = { oldestMs: 0, inFlight: 0, reorged: 0, reorgedAt: 0, reversed: 0, reversedAt: 0, foreignNonces: 0 }
  const head = { number: 100, timestamp: NOW / 1_000, baseFee: 1_000_000_000n }
  heart = openHeart({
    reads: { ask: async () => ({ head, result: `0x${wei.toString(16)}` }) },
    queue: { status: () => ({ ...quiet, ...queue }) },
    rpc: { health: () => ({ highest, nodes }) },
    ...{
      keys: { gas: { address: '0xabc', ...gas }, payTo: { address: '0xdef', ...payTo } },
      blockTimeS: 2,
      wall: () => NOW,
    },
  } as never) // as it needs
  await heart.beat()
  const { health, faults } = heart.status()
  return { health, codes: faults.map(({ code }) => code), words: faults.map(({ sentence }) => sentence).join(' ') }
}

test('a healthy chain has nothing to report', async () => {
  expect(await lookAt({})).toMatchObject({ health: 'ok', codes: [] })
})

test('a first node that is more than ten blocks behind is told, and does not stop anything', async () => {
  const nodes = (head: number) => [
    { node: 'a', head },
    { node: 'b', head: 100 },
  ]
  expect((await lookAt({ nodes: nodes(90) })).codes).toEqual([])
  const behind = await lookAt({ nodes: nodes(89) })
  expect(behind).toMatchObject({ health: 'ok', codes: ['node_behind'] })
  expect(behind.words).toContain('11 blocks behind')
})

test('a reorganisation that dropped transactions is told for an hour', async () => {
  const since = (ms: number) => ({ queue: { reorged: 3, reorgedAt: NOW - ms } })
  expect(await lookAt(since(MINUTE))).toMatchObject({ health: 'ok', codes: ['reorged'] })
  expect((await lookAt(since(61 * MINUTE))).codes).toEqual([])
})

test('gas for fewer than 100 payments is told, and an empty key stops sales', async () => {
  const forPayments = (count: bigint) => ({ wei: count * 80_000n * 1_000_000_000n })
  expect((await lookAt(forPayments(100n))).codes).toEqual([])
  expect(await lookAt(forPayments(99n))).toMatchObject({ health: 'degraded', codes: ['gas_low'] })
  expect(await lookAt(forPayments(0n))).toMatchObject({ health: 'down', codes: ['gas_empty'] })
})

test('a signer of the gas key that fails stops sales, and one of the pay-to key does not; both are asked again', async () => {
  const failing = { fault: () => 'The signer fails: no answer.', check: vi.fn(async () => undefined) }
  const gas = await lookAt({ gas: failing })
  expect(gas).toMatchObject({ health: 'down', codes: ['gas_signer'] })
  expect(gas.words).toBe('The signer fails: no answer. Nothing is sent until it works; then all goes on by itself.')
  heart?.stop()
  expect(await lookAt({ payTo: failing })).toMatchObject({ health: 'degraded', codes: ['payout_signer'] })
  expect(failing.check).toHaveBeenCalledTimes(2)
})
