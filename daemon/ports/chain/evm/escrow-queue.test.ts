import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { toWallet } from '../../../../src/core/hex.ts'
import { usdc } from '../../../../src/core/money.ts'
import type { EscrowPort, EscrowTerms } from '../escrow.ts'
import { accountAt, startTestChain, type TestChain } from './anvil/anvil.testkit.ts'
import { type EvmBench, openEvmBench, testChainFlags } from './evm.testkit.ts'

/* Escrow through the queue of a connected chain, which sends for payments at the same time. */

const JOBS = 12
const FUNDS = 10_000_000n
const [net, fee] = [usdc(250_000n), usdc(13_000n)]
const AMOUNT = net + fee
const DAY_S = 86_400n
const buyer = toWallet(accountAt(8))

let testChain: TestChain
let bench: EvmBench
beforeAll(async () => {
  testChain = await startTestChain(testChainFlags)
})
beforeEach(async () => {
  bench = await openEvmBench(testChain)
  await bench.fund(bench.keys.payTo.address, FUNDS)
})
afterEach(() => bench.close())
afterAll(() => testChain.stop())

function port(): EscrowPort {
  const { escrow } = bench.chain
  if (!escrow) throw new Error('this chain has no escrow')
  return escrow
}

function termsOf(job: string): EscrowTerms {
  const refundTo = bench.keys.payTo.address
  return { job, buyer, refundTo, net, fee, deadline: BigInt(bench.seconds()) + DAY_S }
}

const paidIn = () => bench.chain.balanceOf(bench.keys.payTo.address)

test('many jobs at once: each deposited once, each ended once, and what they held is where it belongs', async () => {
  const jobs = Array.from({ length: JOBS }, (_, at) => `job_${at}`)
  const before = await bench.chain.balanceOf(buyer)
  const deposits = await Promise.all(jobs.map((job) => port().deposit(termsOf(job))))
  expect(deposits.every(({ ok }) => ok)).toBe(true)
  expect(await port().status()).toEqual({ held: BigInt(JOBS) * AMOUNT, paused: false })
  expect(await paidIn()).toBe(FUNDS - BigInt(JOBS) * AMOUNT)
  const ends = await Promise.all(
    jobs.map((job, at) => {
      if (at % 4 === 0) return port().act({ act: 'release', job })
      if (at % 4 === 1) return port().act({ act: 'refund', job })
      if (at % 4 === 2) return port().act({ act: 'resolve', job, toBuyer: usdc(100_001n) })
      return port().act({ act: 'emergencyWithdraw', job })
    }),
  )
  expect(ends.every(({ ok }) => ok)).toBe(true)
  expect(await port().status()).toMatchObject({ held: 0n })
  const withdrawn = BigInt(JOBS / 4) * AMOUNT
  expect(await bench.chain.balanceOf(buyer)).toBe(before + withdrawn)
  expect(await paidIn()).toBe(FUNDS - withdrawn)
})

test('a daemon that starts again asks for the same, and nothing moves twice', async () => {
  const terms = termsOf('job_1')
  expect(await port().deposit(terms)).toMatchObject({ ok: true, already: false })
  await bench.reopen()
  expect(await port().deposit(terms)).toMatchObject({ ok: true, already: true })
  expect(await port().act({ act: 'release', job: 'job_1' })).toMatchObject({ ok: true, already: false })
  await bench.reopen()
  expect(await port().act({ act: 'release', job: 'job_1' })).toMatchObject({ ok: true, already: true })
  expect(await port().act({ act: 'refund', job: 'job_1' })).toEqual({ ok: false, failure: 'ended', reason: 'released' })
  expect(await paidIn()).toBe(FUNDS)
})

test('what waits for the end of a pause is done by the next call after it', async () => {
  expect(await port().deposit(termsOf('job_1'))).toMatchObject({ ok: true })
  expect(await port().setPaused(true)).toMatchObject({ ok: true })
  expect(await port().act({ act: 'release', job: 'job_1' })).toEqual({ ok: false, failure: 'paused' })
  expect(await port().deposit(termsOf('job_2'))).toEqual({ ok: false, failure: 'paused' })
  expect(await port().setPaused(false)).toMatchObject({ ok: true })
  expect(await port().act({ act: 'release', job: 'job_1' })).toMatchObject({ ok: true, already: false })
  expect(await port().deposit(termsOf('job_2'))).toMatchObject({ ok: true, already: false })
  expect(await paidIn()).toBe(FUNDS - AMOUNT)
})

test('a deposit that payTo has no money for moves nothing, and goes in once there is some', async () => {
  const net = usdc(FUNDS)
  const terms = { ...termsOf('job_1'), net }
  expect(await port().deposit(terms)).toMatchObject({ ok: false, failure: 'refused' })
  await bench.fund(bench.keys.payTo.address, AMOUNT)
  expect(await port().deposit(terms)).toMatchObject({ ok: true, already: false })
})
