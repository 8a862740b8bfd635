import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { sampled } from '../../fixtures/kit/depth.ts'
import { balanceOfAccount, listing, type Member, member, openPayments, soundBooks } from '../../fixtures/kit/money.ts'
import { type Death, mortal, NEVER } from '../../fixtures/kit/mortal.ts'
import {
  type Answer,
  type Buyer,
  type Marketplace,
  openMarketplace,
  signPayment,
} from '../../fixtures/market/marketplace.ts'
import { talkIn } from '../../fixtures/market/negotiation.ts'
import { registered } from '../../fixtures/market/people.ts'
import { product } from '../../fixtures/market/products.ts'
import { toWallet } from '../../src/core/hex.ts'
import { formatAmount, usdc } from '../../src/core/money.ts'
import { jobs } from '../features/jobs/rows.ts'
import { account } from '../features/ledger/legs.ts'
import { insertParticipant } from '../features/participants/routes.ts'
import { products, purchases as purchasesOf } from '../features/products/rows.ts'
import { putThread, threads } from '../features/threads/rows.ts'
import { createDaemon } from '../index.ts'
import { background } from '../kernel/context.ts'
import { commit } from '../store/draw.ts'
import type { Store } from '../store/port.ts'

// @slow a crash at every step

/** Calls of a recovery among which the second death strikes. */
const RECOVERY_CALLS = 4
/** The others are the turn of the next commits. */
const CALLS_ONE_IN = 10

let market: Marketplace
let death: Death
let path: string
let filePath = ''
let orderPath: string

beforeAll(async () => {
  death = mortal()
  death.arm(NEVER, 'before')
  market = await openMarketplace({}, death.ports)
  path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
  orderPath = `/v1/services/${(await listing(market)).id}/purchase`
  const seller = await registered(market, { type: 'provider' })
  filePath = `/v1/products/${(await product(market, seller, { price: '0.10' })).body.id}/purchase`
})
afterAll(() => market.close())

/**
 * Ends what is left of the killed process and starts another over the same folder; that one is
 * killed too, early in its recovery, and a third lives.
 */
async function resurrect(recoveryCalls: number): Promise<void> {
  await market.daemon.stop()
  death.meanwhile = async () => undefined
  death.arm(recoveryCalls, 'after')
  const second = await createDaemon(market.config, death.ports).catch(() => undefined)
  await second?.stop()
  death.arm(NEVER, 'before')
  market.daemon = await createDaemon(market.config, death.ports)
}

const PRICE = 10_000n
/** A listing at 0.10 costs its buyer 0.105. */
const ORDER_PRICE = 105_000n
const funds = (buyer: Buyer) => market.daemon.ctx.chain.balanceOf(buyer.wallet)
const jobsOf = (buyer: Buyer) => market.daemon.ctx.store.table(jobs).count('buyer', [buyer.wallet])

type Flow = {
  name: string
  /** Makes what is needed, and returns the call that is killed with what must be true after the restart. */
  prepare: () => Promise<{ call: () => Promise<Answer>; after: (answer: Answer) => Promise<void> }>
}

const body = { data: 'survives' }
/** What was asked for, and what is told of it, are files then. */
const largeBody = { data: 'survives'.repeat(3_000) }

/** What is bought: the instant run settles last, the order settles first and waits in escrow. */
const goods = [
  { name: 'a purchase', path: () => path, price: PRICE, version: 1, body },
  { name: 'an order into escrow', path: () => orderPath, price: ORDER_PRICE, version: 2, body },
  { name: 'a large order into escrow', path: () => orderPath, price: ORDER_PRICE, version: 2, body: largeBody },
] as const

/** What was asked for reaches its job whole. */
async function expectAsked(buyer: Buyer | Member, asked: object): Promise<void> {
  const { rows } = await market.daemon.ctx.store.table(jobs).page('buyer', [buyer.wallet], { limit: 1 })
  const job = await market.admin('GET', `/dashboard/api/admin/jobs/${rows[0]?.id}/bundle`)
  expect(job.body.job.input).toMatchObject(asked)
}

const purchases: Flow[] = goods.flatMap((good) => [
  ...[false, true].map((inStore) => ({
    name: `${good.name} by x402 v${good.version}${inStore ? ', whose money is in the store' : ''}`,
    prepare: async () => {
      death.inStore = inStore
      const buyer = await market.buyer(formatAmount(good.price))
      const offer = await market.call('POST', good.path(), { body: good.body })
      const headers = { ...(await signPayment(buyer.account, offer, good)), 'Idempotency-Key': buyer.wallet }
      const call = () => market.call('POST', good.path(), { body: good.body, headers })
      const after = async (answer: Answer) => {
        const count = await jobsOf(buyer)
        expect(await funds(buyer)).toBe(count === 0 ? good.price : 0n)
        await expectAnswered(answer, call, count)
        expect([await jobsOf(buyer), await funds(buyer)]).toEqual([1, 0n])
        await expectAsked(buyer, good.body)
      }
      return { call, after }
    },
  })),
  {
    name: `${good.name} from the balance`,
    prepare: async () => {
      const buyer = await member(market, { balance: formatAmount(good.price) })
      const headers = { 'X-BALANCE-AUTH': buyer.apiKey, 'Idempotency-Key': 'k' }
      const call = () => market.call('POST', good.path(), { body: good.body, headers })
      const after = async (answer: Answer) => {
        const count = await jobsOf(buyer)
        expect(await available(buyer)).toBe(count === 0 ? good.price : 0n)
        await expectAnswered(answer, call, count)
        expect([await jobsOf(buyer), await available(buyer)]).toEqual([1, 0n])
        await expectAsked(buyer, good.body)
      }
      return { call, after }
    },
  },
])

const others: Flow[] = [
  {
    name: 'a registration whose wallet registered meanwhile',
    prepare: async () => {
      const buyer = await market.buyer('0.01')
      const registration = { name: 'twin', type: 'agent' as const }
      const offer = await market.call('POST', '/v1/register', { body: registration })
      const headers = await signPayment(buyer.account, offer)
      let registered = false
      death.meanwhile = async (store) => {
        registered = true
        await commit({ store, entropy: randomBytes }, (t, draw) =>
          insertParticipant(t, draw, { registration, wallet: buyer.wallet, now: 1 }),
        )
      }
      const call = () => market.call('POST', '/v1/register', { body: registration, headers })
      const after = async () => {
        if (registered) expect(await funds(buyer)).toBe(PRICE)
        expect((await call()).status).toBe(registered ? 409 : 200)
        expect(await funds(buyer)).toBe(registered ? PRICE : 0n)
      }
      return { call, after }
    },
  },
  {
    name: 'a deposit',
    prepare: async () => {
      const one = await member(market, { wallet: '1.01' })
      const offer = await market.call('POST', '/v1/balance/deposit?amount=1.00')
      const headers = await signPayment(one.account, offer)
      const call = () => market.call('POST', '/v1/balance/deposit?amount=1.00', { headers })
      const after = async (answer: Answer) => {
        expect((await funds(one)) + (await available(one))).toBe(1_000_000n)
        if (answer.status === 200) expect(await available(one)).toBe(1_000_000n)
        expect((await call()).status).toBe(200)
        expect([await funds(one), await available(one)]).toEqual([0n, 1_000_000n])
      }
      return { call, after }
    },
  },
]

/** What 1.00 as a proposal costs its buyer. */
const OFFER_PRICE = 1_050_000n

/** A price that was negotiated, and one that another replaces meanwhile. */
const negotiations = (['an accepted price', 'an accepted price, replaced meanwhile'] as const).map(
  (name): Flow => ({
    name,
    prepare: async () => {
      const talk = await talkIn(market)
      await talk.propose('1.00')
      const wallet = toWallet(talk.agent.account.address)
      const purse = () => market.daemon.ctx.chain.balanceOf(wallet)
      const before = await purse()
      const offer = await market.call('POST', talk.at('accept'))
      const headers = { ...(await signPayment(talk.agent.account, offer)), 'Idempotency-Key': talk.thread }
      const call = () => market.call('POST', talk.at('accept'), { body: {}, headers })
      let replaced = false
      if (name === 'an accepted price, replaced meanwhile') {
        death.meanwhile = async (store) => {
          replaced = true
          await replaceProposal(store, talk.thread)
        }
      }
      const after = async (answer: Answer) => {
        const count = await market.daemon.ctx.store.table(jobs).count('buyer', [wallet])
        expect(await purse()).toBe(count === 0 ? before : before - OFFER_PRICE)
        if (replaced) expect([count, (await call()).status, await purse()]).toEqual([0, 409, before])
        else await expectAnswered(answer, call, count)
        const bought = await market.daemon.ctx.store.table(jobs).count('buyer', [wallet])
        expect([bought, await purse()]).toEqual(replaced ? [0, before] : [1, before - OFFER_PRICE])
      }
      return { call, after }
    },
  }),
)

function replaceProposal(store: Store, id: string): Promise<unknown> {
  return store.tx(async (t) => {
    const thread = await t.table(threads).getForUpdate(id)
    if (!thread?.proposal) throw new Error(`${id} is about no price`)
    const proposal = { ...thread.proposal, proposed_at: thread.proposal.proposed_at + 1 }
    return putThread(t, { ...thread, proposal })
  })
}

/** What a product at 0.10 costs its buyer. */
const FILE_PRICE = 105_000n
const soldTo = (one: Member) => market.daemon.ctx.store.table(purchasesOf).count('buyer', [one.wallet])

/** A file, and one that the same wallet got meanwhile: it is not paid for twice. */
const files = (['a product', 'a product, bought meanwhile'] as const).map(
  (name): Flow => ({
    name,
    prepare: async () => {
      const one = await member(market, { wallet: '1.00' })
      const before = await funds(one)
      const offer = await market.call('POST', filePath)
      const headers = { ...(await signPayment(one.account, offer)), 'Idempotency-Key': one.id }
      const call = () => market.call('POST', filePath, { body: {}, headers })
      let isTaken = false
      if (name === 'a product, bought meanwhile') {
        death.meanwhile = async (store) => {
          isTaken = true
          await ownedAlready(store, one)
        }
      }
      const after = async (answer: Answer) => {
        const count = await soldTo(one)
        if (!isTaken) {
          expect(await funds(one)).toBe(count === 0 ? before : before - FILE_PRICE)
          await expectAnswered(answer, call, count)
        } else expect((await call()).status).toBe(409)
        expect([await soldTo(one), await funds(one)]).toEqual([1, isTaken ? before : before - FILE_PRICE])
      }
      return { call, after }
    },
  }),
)

/** The purchase of another request of the same wallet. */
function ownedAlready(store: Store, one: Member): Promise<unknown> {
  return commit({ store, entropy: randomBytes }, async (t, draw) => {
    const sold = await t.table(products).get(filePath.split('/')[3] as string)
    if (!sold?.file) throw new Error(`${filePath} sells no file`)
    await t.table(purchasesOf).insert({
      id: draw.id('purchase'),
      product_id: sold.id,
      product_name: sold.name,
      provider_id: sold.provider_id,
      buyer_wallet: one.wallet,
      buyer_id: one.id,
      file: sold.file,
      file_sha256: sold.file.sha256,
      amount: usdc(0n),
      fee: usdc(0n),
      provider_amount: usdc(0n),
      receipt_id: draw.id('receipt'),
      payment_method: 'balance',
      transaction: null,
      created_at: 1,
    })
  })
}

const available = (one: Member) => balanceOfAccount(market, account.balance(one.id))

/** An answer that was given is given again; one that was lost is to be had; nothing is bought twice. */
async function expectAnswered(answer: Answer, call: () => Promise<Answer>, bought: number): Promise<void> {
  const again = await call()
  expect(again.status).toBe(200)
  expect(again.headers.get('Idempotency-Replayed')).toBe(bought === 1 ? 'true' : null)
  if (answer.status === 200) expect(again.text).toBe(answer.text)
}

describe.each([...purchases, ...others, ...negotiations, ...files])('$name, killed', ({ prepare }) => {
  afterEach(() => {
    death.inStore = false
  })

  test('at a call, before and after it: nothing is lost, charged twice or stuck', async () => {
    death.arm(NEVER, 'before')
    const clean = await prepare()
    death.arm(NEVER, 'before')
    const unharmed = await clean.call()
    await Promise.all(background.of(market.daemon.ctx))
    const calls = death.calls()
    expect(calls).toBeGreaterThan(0)
    await clean.after(unharmed)
    for (const at of sampled([...Array(calls).keys()], CALLS_ONE_IN)) {
      for (const when of ['before', 'after'] as const) {
        const { call, after } = await prepare()
        death.arm(at, when)
        const answer = await call()
        await resurrect(at % RECOVERY_CALLS)
        expect(await openPayments(market), `${when} call ${at}`).toEqual([])
        await soundBooks(market)
        await after(answer)
        await soundBooks(market)
      }
    }
  })
})
