import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Hex } from '../../../../../src/core/hex.ts'
import { openMemoryStore } from '../../../../store/memory/open.testkit.ts'
import type { Store } from '../../../../store/port.ts'
import type { Reversal } from '../../chain.ts'
import { accountAt } from '../anvil/anvil.testkit.ts'
import type { QueueOptions } from './core.ts'
import {
  type Buyer,
  buyers,
  type GasKey,
  gasKey,
  type Opened,
  openQueue,
  openStage,
  order,
  type Stage,
} from './queue.testkit.ts'
import { queueCollections } from './rows.ts'

// @slow starts a chain

let stage: Stage
let store: Store
let key: GasKey
let opened: Opened
let reversals: Reversal[]
/** How far the clock of this machine is put ahead. */
let ahead: number
beforeEach(async () => {
  stage = await openStage()
  store = openMemoryStore([...queueCollections])
  key = await gasKey(stage)
  reversals = []
  ahead = 0
  opened = await reopen()
})
afterEach(async () => {
  await opened.close()
  await stage.chain.stop()
})

const wall = (): number => Date.now() + ahead

async function reopen(finality?: QueueOptions['finality']): Promise<Opened> {
  const next = await openQueue(stage, {
    store,
    key,
    urls: [stage.chain.url],
    change: { wall, ...(finality ? { finality } : {}) },
  })
  next.queue.onReversed((reversal) => reversals.push(reversal))
  await next.queue.start()
  return next
}

/** Blocks of others, so that a reorganisation has something to undo. */
const reorg = (depth: number) => stage.chain.client.request({ method: 'anvil_reorg', params: [depth, []] } as never)

test.each([1, 3])('what a reorganisation of %i blocks undid is sent again and moves once', async (depth) => {
  const all = await buyers(stage, 3)
  const signed = await Promise.all(all.map((buyer) => order(stage, buyer)))
  const results = []
  for (const one of signed) results.push(await opened.queue.settle(one))
  expect(results).toMatchObject([{ ok: true }, { ok: true }, { ok: true }])
  await reorg(depth)
  await expect.poll(() => opened.queue.status().reorged).toBe(depth)
  await expect.poll(() => stage.paid()).toBe(3_000n)
  expect(await Promise.all(signed.map((one) => opened.queue.settle(one)))).toMatchObject(
    results.map((result) => ({ ok: true, transaction: result.ok && result.transaction })),
  )
  expect(await stage.paid()).toBe(3_000n)
  expect(reversals).toEqual([])
})

test('a chain that was set back gets the stored bytes again, also after a restart', async () => {
  const all = await buyers(stage, 2)
  const snapshot = await stage.chain.client.snapshot()
  const signed = await Promise.all(all.map((buyer) => order(stage, buyer)))
  for (const one of signed) expect(await opened.queue.settle(one)).toMatchObject({ ok: true })
  await opened.close()
  await stage.chain.client.revert({ id: snapshot })
  expect(await stage.paid()).toBe(0n)
  opened = await reopen()
  await expect.poll(() => stage.paid()).toBe(2_000n)
  expect(reversals).toEqual([])
})

test('a payment that was undone and can never move again is told as reversed, once, and again at each start', async () => {
  const [poor, rich] = (await buyers(stage, 2)) as [Buyer, Buyer]
  const before = await stage.chain.client.snapshot()
  const [lost, kept] = [await order(stage, poor, { value: 1_000_000n }), await order(stage, rich)]
  const [first, second] = await Promise.all([lost, kept].map((one) => opened.queue.settle(one)))
  expect([first, second]).toMatchObject([{ ok: true }, { ok: true }])
  // In the chain that counts the payer's money went elsewhere before.
  await stage.chain.client.setAutomine(false)
  await stage.chain.client.revert({ id: before })
  await stage.chain.client.setBalance({ address: poor.address, value: 10n ** 18n })
  await stage.chain.client.impersonateAccount({ address: poor.address })
  await stage.chain.client.setAutomine(true)
  const gone = await stage.chain.attempt({
    from: poor.address,
    to: stage.token,
    name: 'transfer',
    args: [accountAt(5), 1_000_000n],
  })
  expect(gone.ok).toBe(true)
  await expect.poll(() => stage.paid()).toBe(1_000n)
  // Until its window closes the money may come back.
  expect(reversals).toEqual([])
  ahead = 3_600_000
  await expect.poll(() => reversals.length).toBe(1)
  const { from, nonce, value } = lost.authorization
  expect(reversals[0]).toMatchObject({ from, nonce, value })
  expect(await stage.paid()).toBe(1_000n)
  expect(opened.queue.status().reversed).toBe(1)
  expect(await opened.queue.settle(lost)).toMatchObject({ ok: false, sent: true })
  await opened.close()
  reversals = []
  opened = await reopen()
  expect(reversals).toMatchObject([{ from, nonce, value }])
})

const TAGS = ['--slots-in-an-epoch', '2']
const finality = { confirmed: 'safe', final: 'finalized' } as const

test('a reversed payment whose money another reorganisation brings back is told so, once it is final', async () => {
  await opened.close()
  await stage.chain.stop()
  stage = await openStage(TAGS)
  store = openMemoryStore([...queueCollections])
  key = await gasKey(stage)
  opened = await reopen(finality)
  const [buyer] = (await buyers(stage, 1)) as [Buyer]
  await stage.chain.client.mine({ blocks: 10 })
  const first = await stage.chain.client.snapshot()
  const signed = await order(stage, buyer)
  expect(await opened.queue.settle(signed)).toMatchObject({ ok: true })
  await opened.close()
  await stage.chain.client.revert({ id: first })
  const second = await stage.chain.client.snapshot()
  await cancel(buyer, signed.authorization.nonce)
  opened = await reopen(finality)
  await expect.poll(() => reversals.length).toBe(1)
  expect(opened.queue.status().reversed).toBe(1)
  // A process that ends between the two knows of it, too.
  await opened.close()
  reversals = []
  await stage.chain.client.revert({ id: second })
  opened = await reopen(finality)
  await expect.poll(() => stage.paid()).toBe(1_000n)
  expect(reversals.filter(({ returned }) => returned !== undefined)).toEqual([])
  await stage.chain.client.mine({ blocks: 6 })
  await expect.poll(() => reversals.filter(({ returned }) => returned !== undefined).length).toBe(1)
  expect(opened.queue.status().reversed).toBe(0)
  await opened.close()
  reversals = []
  opened = await reopen(finality)
  expect(reversals).toMatchObject([{ nonce: signed.authorization.nonce, returned: expect.stringMatching(/^0x/) }])
})

async function cancel(buyer: Buyer, nonce: Hex): Promise<void> {
  const signature = await buyer.signTypedData({
    domain: stage.domain,
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: buyer.address, nonce },
  })
  const abi = stage.token.abi.filter((one) => one.type !== 'function' || one.inputs.length === 3)
  const token = { ...stage.token, abi }
  const args = [buyer.address, nonce, signature]
  const done = await stage.chain.attempt({ from: accountAt(3), to: token, name: 'cancelAuthorization', args })
  expect(done.ok).toBe(true)
}

test('a payment whose authorization was cancelled on the other branch is told as reversed', async () => {
  const [buyer] = (await buyers(stage, 1)) as [Buyer]
  const before = await stage.chain.client.snapshot()
  const signed = await order(stage, buyer)
  expect(await opened.queue.settle(signed)).toMatchObject({ ok: true })
  await opened.close()
  await stage.chain.client.revert({ id: before })
  await cancel(buyer, signed.authorization.nonce)
  opened = await reopen()
  await expect.poll(() => reversals.length).toBe(1)
  expect(await stage.paid()).toBe(0n)
  expect(await opened.queue.settle(signed)).toMatchObject({ ok: false, failure: 'authorization_cancelled' })
})
