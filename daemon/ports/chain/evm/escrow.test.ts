import { describe, expect, test } from 'vitest'
import { domainSeparator } from '../../../../src/core/authorization.ts'
import { type Hex, toWallet } from '../../../../src/core/hex.ts'
import { usdc } from '../../../../src/core/money.ts'
import type { EscrowAct, EscrowTerms } from '../escrow.ts'
import { openKey } from '../key.ts'
import { devAccounts, onTestChain, type TestChain } from './anvil/anvil.testkit.ts'
import { AMOUNT, addressOf, DAY, deployEscrow, FEE, FUNDS, NET, payTo } from './contracts/escrow.testkit.ts'
import { type EscrowParts, openEscrow } from './escrow.ts'
import type { CallOrder, OrderOutcome, TxQueue } from './queue/queue.ts'
import { decodeValues, encodeCall } from './rpc/abi.ts'

const CHAIN_ID = 31_337
const SHORT_OF_GAS = 60_000

/** Sends at once, from a key of the node; what reverted stays so under its id. */
function plainQueue({ client, mined }: TestChain, from: Hex) {
  const kept = new Map<string, OrderOutcome>()
  const queue = { sent: 0, gas: 10_000_000 }
  async function send({ to, data }: CallOrder): Promise<OrderOutcome> {
    const gas = BigInt(queue.gas)
    if (queue.gas > SHORT_OF_GAS) {
      const revert = await client.call({ account: from, to, data }).then(
        () => undefined,
        (error) => String(error.walk?.((one: { data?: unknown }) => typeof one.data === 'string')?.data ?? '0x'),
      )
      if (revert !== undefined) return { ok: false, failure: 'reverted', sent: false, data: revert as Hex }
    }
    queue.sent += 1
    const hash = await client.sendTransaction({ account: from, chain: client.chain, to, data, gas })
    const { status, transactionHash: transaction } = await mined(hash)
    if (status !== 'success') return { ok: false, failure: 'reverted', sent: true, transaction }
    return { ok: true, transaction, already: false, logs: [] }
  }
  const call: TxQueue['call'] = async (order) => {
    const known = kept.get(order.id)
    if (known) return known.ok ? { ...known, already: true } : known
    const outcome = await send(order)
    if (outcome.ok || outcome.sent) kept.set(order.id, outcome)
    return outcome
  }
  return { queue, call }
}

function plainReads({ client }: TestChain): EscrowParts['reads'] {
  const unread = () => Promise.reject(new Error('nothing here looks for events'))
  return {
    newestLogs: unread,
    asOf: unread,
    call: async ({ to, method, values }) => {
      const { data } = await client.call({ to, data: encodeCall(method, values) })
      return decodeValues(method.gives, data ?? '0x')
    },
  }
}

const stage = onTestChain(async (chain) => {
  const { token, escrow } = await deployEscrow(chain)
  const key = devAccounts[5]?.getHdKey().privateKey
  const payToKey = await openKey(Buffer.from(key ?? []).toString('hex'))
  const address = toWallet(escrow.address)
  const domain = { name: 'USD Coin', version: '2', chainId: CHAIN_ID, verifyingContract: toWallet(token.address) }
  const open = (from: Hex) => {
    const { queue, call } = plainQueue(chain, from)
    const parts = { reads: plainReads(chain), address, chainId: CHAIN_ID, separator: domainSeparator(domain), payToKey }
    return { queue, port: openEscrow({ ...parts, queue: { call } }) }
  }
  return { token, escrow, open }
})

async function termsOf(job: string): Promise<EscrowTerms> {
  const { timestamp } = await stage().chain.client.getBlock()
  const buyer = toWallet(addressOf('buyer'))
  return { job, buyer, refundTo: toWallet(payTo), net: usdc(NET), fee: usdc(FEE), deadline: timestamp + DAY }
}

const balanceOf = (account: Hex) => stage().chain.read(stage().token, 'balanceOf', [account])
const sent = { ok: true, already: false, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) }

test("a job's money goes into the contract from pay_to by its signature, and is there under its terms", async () => {
  const { port } = stage().open(addressOf('operator'))
  const terms = await termsOf('job_1')
  expect(await port.dealOf('job_1')).toMatchObject({ state: 'none' })
  expect(await port.deposit(terms)).toEqual(sent)
  const { job: _, ...known } = terms
  expect(await port.dealOf('job_1')).toEqual({ ...known, state: 'held', timeoutClosed: false, toBuyer: 0n })
  expect(await port.status()).toEqual({ held: AMOUNT, paused: false })
  expect(await balanceOf(payTo)).toBe(FUNDS - AMOUNT)
})

test('a deposit that is asked for again, also by a daemon that remembers nothing, moves no second time', async () => {
  const first = stage().open(addressOf('operator'))
  const terms = await termsOf('job_1')
  expect(await first.port.deposit(terms)).toEqual(sent)
  expect(await first.port.deposit(terms)).toEqual({ ...sent, already: true })
  const { port } = stage().open(addressOf('operator'))
  expect(await port.deposit(terms)).toEqual({ ok: true, already: true })
  expect(await port.deposit({ ...terms, net: usdc(NET - 1n) })).toEqual({ ok: false, failure: 'other_terms' })
  expect(await balanceOf(payTo)).toBe(FUNDS - AMOUNT)
})

const ends: readonly [EscrowAct['act'], EscrowAct, bigint][] = [
  ['release', { act: 'release', job: 'job_1' }, 0n],
  ['refund', { act: 'refund', job: 'job_1' }, 0n],
  ['resolve', { act: 'resolve', job: 'job_1', toBuyer: usdc(100_001n) }, 0n],
  ['emergencyWithdraw', { act: 'emergencyWithdraw', job: 'job_1' }, AMOUNT],
]

describe.each(ends)('%s', (name, act, toBuyer) => {
  const caller = () => addressOf(name === 'emergencyWithdraw' ? 'admin' : 'operator')

  test('ends a deal once, and says so again', async () => {
    expect(
      await stage()
        .open(addressOf('operator'))
        .port.deposit(await termsOf('job_1')),
    ).toEqual(sent)
    expect(await stage().open(caller()).port.act(act)).toEqual(sent)
    const { port } = stage().open(caller())
    expect(await port.act(act)).toEqual({ ok: true, already: true })
    expect(await balanceOf(addressOf('buyer'))).toBe(toBuyer)
    expect(await balanceOf(payTo)).toBe(FUNDS - toBuyer)
    expect(await port.status()).toMatchObject({ held: 0n })
  })

  test('says that a deal ended otherwise, or never was', async () => {
    const { port } = stage().open(caller())
    expect(await port.act(act)).toEqual({ ok: false, failure: 'not_held' })
    const other: EscrowAct = { act: name === 'refund' ? 'release' : 'refund', job: 'job_1' }
    const { port: operator } = stage().open(addressOf('operator'))
    expect(await operator.deposit(await termsOf('job_1'))).toEqual(sent)
    expect(await operator.act(other)).toEqual(sent)
    const reason = name === 'refund' ? 'released' : 'refunded'
    expect(await port.act(act)).toEqual({ ok: false, failure: 'ended', reason })
  })
})

test('a split of another amount is not the split that was made', async () => {
  const { port } = stage().open(addressOf('operator'))
  expect(await port.deposit(await termsOf('job_1'))).toEqual(sent)
  expect(await port.act({ act: 'resolve', job: 'job_1', toBuyer: usdc(1n) })).toEqual(sent)
  expect(await port.dealOf('job_1')).toMatchObject({ state: 'split', toBuyer: 1n })
  const other = await port.act({ act: 'resolve', job: 'job_1', toBuyer: usdc(2n) })
  expect(other).toEqual({ ok: false, failure: 'ended', reason: 'split' })
})

test('what reverted in a block is tried anew under another id, and not for ever', async () => {
  const { port, queue } = stage().open(addressOf('operator'))
  expect(await port.deposit(await termsOf('job_1'))).toEqual(sent)
  queue.gas = 30_000
  const refused = { ok: false, failure: 'refused', reason: 'it reverted 5 times' }
  expect(await port.act({ act: 'release', job: 'job_1' })).toEqual(refused)
  expect(queue.sent).toBe(6)
  expect(await port.dealOf('job_1')).toMatchObject({ state: 'held' })
})

test('while it is paused, deposit and release wait and the way back is open', async () => {
  const { port } = stage().open(addressOf('operator'))
  for (const job of ['job_1', 'job_2']) expect(await port.deposit(await termsOf(job))).toEqual(sent)
  const { port: pauser } = stage().open(addressOf('pauser'))
  expect(await pauser.setPaused(true)).toEqual(sent)
  expect(await pauser.setPaused(true)).toEqual({ ok: true, already: true })
  expect(await port.deposit(await termsOf('job_3'))).toEqual({ ok: false, failure: 'paused' })
  expect(await port.act({ act: 'release', job: 'job_1' })).toEqual({ ok: false, failure: 'paused' })
  expect(await port.act({ act: 'refund', job: 'job_2' })).toEqual(sent)
  expect(await stage().open(addressOf('admin')).port.setPaused(false)).toEqual(sent)
  expect(await port.act({ act: 'release', job: 'job_1' })).toEqual(sent)
})

test('delivered work closes the timeout, and a deadline moves to later only', async () => {
  const { port } = stage().open(addressOf('operator'))
  const terms = await termsOf('job_1')
  expect(await port.deposit(terms)).toEqual(sent)
  const later = terms.deadline + DAY
  expect(await port.act({ act: 'extend', job: 'job_1', deadline: later })).toEqual(sent)
  expect(await port.act({ act: 'extend', job: 'job_1', deadline: terms.deadline })).toEqual({ ok: true, already: true })
  expect(await port.deposit(terms)).toMatchObject({ ok: true, already: true })
  expect(await port.act({ act: 'markDelivered', job: 'job_1' })).toEqual(sent)
  const { port: forgetful } = stage().open(addressOf('operator'))
  expect(await forgetful.act({ act: 'markDisputed', job: 'job_1' })).toMatchObject({ ok: true })
  expect(await port.dealOf('job_1')).toMatchObject({ deadline: later, timeoutClosed: true, state: 'held' })
})

test('a caller without the role is refused with the reason of the contract', async () => {
  const { port } = stage().open(addressOf('stranger'))
  const outcome = await port.deposit(await termsOf('job_1'))
  expect(outcome).toMatchObject({ ok: false, failure: 'refused', reason: expect.stringMatching(/^0x/) })
})
