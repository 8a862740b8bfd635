import { parseSignature, serializeSignature } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Hex, toWallet, type Wallet } from '../../../../../src/core/hex.ts'
import { openMemoryStore } from '../../../../store/memory/open.testkit.ts'
import { accountAt } from '../anvil/anvil.testkit.ts'
import { walletContracts } from '../contracts/wallets/artifacts.testkit.ts'
import type { QueueEvent } from './core.ts'
import {
  type Buyer,
  buyers,
  type Change,
  gasKey,
  type Opened,
  openQueue,
  openStage,
  order,
  type Stage,
} from './queue.testkit.ts'
import { queueCollections } from './rows.ts'

// @slow starts a chain

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

let stage: Stage
let all: Buyer[]
let opened: Opened
let events: QueueEvent[]
beforeAll(async () => {
  stage = await openStage()
  all = await buyers(stage, 10)
})
afterAll(() => stage.chain.stop())
beforeEach(async () => {
  events = []
  opened = await openQueue(stage, {
    store: openMemoryStore([...queueCollections]),
    key: await gasKey(stage),
    urls: [stage.chain.url],
    change: { observe: (event) => events.push(event) },
  })
  await opened.queue.start()
})
afterEach(() => opened.close())

const buyer = (at: number): Buyer => all[at] as Buyer
const act = (name: string, args: readonly unknown[] = []) =>
  stage.chain.attempt({ from: accountAt(0), to: stage.token, name, args })
const seconds = (): bigint => BigInt(Math.floor(Date.now() / 1000))

/** The twin with a high s, which the token takes for none. */
function malleated(signature: Hex): Hex {
  const { r, s, yParity } = parseSignature(signature)
  const twin: Hex = `0x${(N - BigInt(s)).toString(16).padStart(64, '0')}`
  return serializeSignature({ r, s: twin, yParity: 1 - yParity })
}

const refusals: [string, Change & { change?: (signature: Hex) => Hex }, string][] = [
  ['more than there is', { value: 10_000_000n }, 'insufficient_funds'],
  ['a window that has closed', { validBefore: seconds() - 10n }, 'authorization_expired'],
  ['a window that has not begun', { validAfter: seconds() + 3_600n }, 'authorization_not_yet_valid'],
  ['other terms than were signed', { signAs: { value: 1n } }, 'signature_invalid'],
  ['a high s', { change: malleated }, 'signature_invalid'],
  ['an impossible v', { change: (signature) => `0x${signature.slice(2, 130)}1d` }, 'signature_invalid'],
  ['a signature of 64 bytes', { change: (signature) => `0x${signature.slice(2, 130)}` }, 'signature_invalid'],
  ['a signature beyond all bounds', { change: () => `0x${'11'.repeat(5_000)}` }, 'signature_invalid'],
]

test('among others, each is refused for its own reason and unsent; the others are paid', async () => {
  const bad = await Promise.all(
    refusals.map(async ([, { change = (signature: Hex) => signature, ...terms }]) => {
      const one = await order(stage, buyer(0), terms)
      return { ...one, signature: change(one.signature) }
    }),
  )
  const good = await Promise.all(all.map((one) => order(stage, one)))
  const paid = await stage.paid()
  const [refused, settled] = await Promise.all([
    Promise.all(bad.map((one) => opened.queue.settle(one))),
    Promise.all(good.map((one) => opened.queue.settle(one))),
  ])
  expect(refused).toEqual(refusals.map(([, , failure]) => ({ ok: false, failure, sent: false })))
  expect(settled.filter(({ ok }) => !ok)).toEqual([])
  expect(await stage.paid()).toBe(paid + 1_000n * BigInt(all.length))
})

test('a blocked payer, a paused token and a used nonce are told apart', async () => {
  await act('blacklist', [buyer(1).address])
  expect(await opened.queue.settle(await order(stage, buyer(1)))).toMatchObject({
    failure: 'payer_blocked',
    sent: false,
  })
  await act('unBlacklist', [buyer(1).address])
  await act('pause')
  const waits = await order(stage, buyer(1))
  expect(await opened.queue.settle(waits)).toMatchObject({ failure: 'token_paused', sent: false })
  expect(opened.queue.status().tokenPaused).toBe(true)
  await act('unpause')
  expect(await opened.queue.settle(waits)).toMatchObject({ ok: true })
  expect(opened.queue.status().tokenPaused).toBe(false)
  const { nonce } = waits.authorization
  const again = await order(stage, buyer(1), { nonce, value: 2_000n })
  expect(await opened.queue.settle(again)).toMatchObject({ failure: 'authorization_used', sent: false })
})

test('what somebody else submitted first is no refusal', async () => {
  const signed = await order(stage, buyer(2))
  const { from, to, value, validAfter, validBefore, nonce } = signed.authorization
  const abi = stage.token.abi.filter((one) => one.type !== 'function' || one.inputs.length === 7)
  const args = [from, to, value, validAfter, validBefore, nonce, signed.signature]
  const name = 'transferWithAuthorization'
  const token = { ...stage.token, abi }
  const done = await stage.chain.attempt({ from: accountAt(4), to: token, name, args })
  const transaction = done.ok && done.receipt.transactionHash
  const paid = await stage.paid()
  expect(await opened.queue.settle(signed)).toEqual({ ok: true, transaction, already: true })
  expect(await stage.paid()).toBe(paid)
})

test('a payer whose contract burns all gas, and one who became a contract, go alone; the others are paid', async () => {
  const burner = await stage.chain.deploy(walletContracts.gasBurner)
  const turned = buyer(9)
  await stage.fund(burner.address, 1_000_000n)
  await stage.chain.client.setCode({
    address: turned.address,
    bytecode: `0xef0100${burner.address.slice(2).toLowerCase()}`,
  })
  const honest = await Promise.all(all.slice(0, 9).map((one) => order(stage, one)))
  const from: Wallet = toWallet(burner.address)
  const bad = [await order(stage, buyer(0), { from }), await order(stage, turned)]
  const paid = await stage.paid()
  const results = await Promise.all([...honest, ...bad].map((one) => opened.queue.settle(one)))
  await stage.chain.client.setCode({ address: turned.address, bytecode: '0x' })
  expect(results.slice(0, 9).filter(({ ok }) => !ok)).toEqual([])
  expect(results.slice(9)).toMatchObject([{ ok: false }, { ok: false }])
  expect(await stage.paid()).toBe(paid + 9_000n)
})

test('a contract wallet pays with its own form of signature, alone', async () => {
  const wallet = await stage.chain.deploy(walletContracts.keyWallet, [buyer(3).address])
  await stage.fund(wallet.address, 5_000n)
  const signed = await order(stage, buyer(3), { from: toWallet(wallet.address) })
  const { r, s, yParity } = parseSignature(signed.signature)
  const signature: Hex = `${serializeSignature({ r, s, yParity })}00`
  const paid = await stage.paid()
  expect(await opened.queue.settle({ ...signed, signature })).toMatchObject({ ok: true })
  expect(await stage.paid()).toBe(paid + 1_000n)
})

test('money that leaves between simulation and block costs the others nothing, and its reason is told as sent', async () => {
  const poor = buyer(4)
  const [first, second] = [await order(stage, poor, { value: 600_000n }), await order(stage, poor, { value: 600_000n })]
  const results = await Promise.all([first, second].map((one) => opened.queue.settle(one)))
  expect(results.filter(({ ok }) => ok)).toHaveLength(1)
  expect(results.filter(({ ok }) => !ok)).toMatchObject([{ failure: 'insufficient_funds' }])
})

test('a call is made once for its id, and one that would revert is not sent', async () => {
  const to = toWallet(stage.token.address)
  const approve: Hex = `0x095ea7b3${buyer(5).address.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`
  const first = await opened.queue.call({ id: 'a', to, data: approve })
  expect(first).toMatchObject({ ok: true, already: false, logs: [{ address: to }] })
  expect(await opened.queue.call({ id: 'a', to, data: approve })).toEqual({ ...first, already: true })
  const mint: Hex = `0x40c10f19${buyer(5).address.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`
  expect(await opened.queue.call({ id: 'b', to, data: mint })).toMatchObject({
    ok: false,
    failure: 'reverted',
    sent: false,
    data: expect.stringMatching(/^0x08c379a0/),
  })
  expect(events.filter(({ kind }) => kind === 'sent')).toHaveLength(1)
})
