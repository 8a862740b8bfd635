import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../../fixtures/kit/depth.ts'
import { balanceOfAccount, credit, soundBooks } from '../../../fixtures/kit/money.ts'
import { type Answer, type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { product } from '../../../fixtures/market/products.ts'
import { toWallet } from '../../../src/core/hex.ts'
import { formatAmount } from '../../../src/core/money.ts'
import { MAX_PRICE, PRICE_STEP } from '../../../src/core/price.ts'
import { account } from '../ledger/legs.ts'

// @slow random histories

/* Files that are priced, sold, withdrawn and deleted in any order: the books against a model of them. */

const RUNS = runs(25, 10)
const MAX_STEPS = 14
const BUYERS = 2
const PRODUCTS = 3
/** Highest price in a history, in steps: each wallet, and each balance, can pay for all that there is. */
const MAX_STEPS_OF_PRICE = 3_000
const OPENING = '10.00'

type Step =
  | { readonly do: 'buy'; readonly who: number; readonly what: number; readonly from: 'x402' | 'balance' }
  | { readonly do: 'price'; readonly what: number; readonly price: bigint }
  | { readonly do: 'withdraw' | 'offer' | 'delete'; readonly what: number }

const what = fc.nat({ max: PRODUCTS - 1 })
const price = fc.integer({ min: 1, max: MAX_STEPS_OF_PRICE }).map((steps) => BigInt(steps) * PRICE_STEP)
const buying = fc.record({
  do: fc.constant('buy' as const),
  who: fc.nat({ max: BUYERS - 1 }),
  what,
  from: fc.constantFrom('x402' as const, 'balance' as const),
})
const pricing = fc.record({ do: fc.constant('price' as const), what, price })
const moving = fc.record({ do: fc.constantFrom('withdraw' as const, 'offer' as const, 'delete' as const), what })
const step: fc.Arbitrary<Step> = fc.oneof({ weight: 6, arbitrary: buying }, pricing, moving)

type Sold = {
  price: bigint
  /** What it cost before: no history lasts as long as a quote window. */
  before?: bigint
  status: 'active' | 'inactive' | 'deleted'
  readonly owners: Set<number>
}

let market: Marketplace
let referrer: Person
beforeAll(async () => {
  market = await openMarketplace()
  referrer = await registered(market, { type: 'agent' })
})
afterAll(() => market.close())

const booked = (name: string) => balanceOfAccount(market, name)
const onChain = (one: Person) => market.daemon.ctx.chain.balanceOf(toWallet(one.account.address))

/** price × 1.05, half-up to $0.001, as the specification's examples have it. */
function agentPrice(net: bigint): bigint {
  return ((net * 105n + 50n * PRICE_STEP) / (100n * PRICE_STEP)) * PRICE_STEP
}

async function openShop() {
  const inRef = { referral_code: `ref_${referrer.id}` }
  const seller = await registered(market, { type: 'provider', ...inRef })
  const buyers = await Promise.all(
    Array.from({ length: BUYERS }, () => registered(market, { type: 'agent', ...inRef })),
  )
  for (const one of buyers) await credit(market, one.id, OPENING)
  const made = await Promise.all(Array.from({ length: PRODUCTS }, () => product(market, seller, { price: '1.00' })))
  return { seller, buyers, ids: made.map((one) => one.body.id as string) }
}
type Shop = Awaited<ReturnType<typeof openShop>>

/** What the books must have gained. */
type Model = { readonly sold: Sold[]; net: bigint; fees: bigint; referrals: bigint; readonly spent: bigint[] }

async function take(shop: Shop, model: Model, one: Step): Promise<void> {
  if (one.do === 'buy') return buy(shop, model, one)
  const file = model.sold[one.what] as Sold
  const path = `/v1/products/${shop.ids[one.what]}`
  const answer =
    one.do === 'delete' ? await shop.seller.call('DELETE', path) : await shop.seller.call('PUT', path, changeOf(one))
  const expected = expectedOfChange(file, one)
  expect(answer.status, answer.text).toBe(expected)
  if (expected !== 200) return
  if (one.do === 'price') reprice(file, one.price)
  else file.status = statusAfter[one.do]
}

/** A price that differs opens a window, in which it cannot be changed again. */
function expectedOfChange({ status, price, before }: Sold, one: Exclude<Step, { do: 'buy' }>): number {
  if (status === 'deleted') return 404
  return one.do === 'price' && before !== undefined && one.price !== price ? 409 : 200
}

function reprice(file: Sold, price: bigint): void {
  if (price === file.price) return
  file.before = file.price
  file.price = price
}

/** A signature names its price; who pays from the balance without having seen one pays the lower of the two. */
function netOf({ price, before = price }: Sold, from: 'x402' | 'balance'): bigint {
  return from === 'balance' && before < price ? before : price
}

const statusAfter = { withdraw: 'inactive', offer: 'active', delete: 'deleted' } as const

function changeOf(one: Exclude<Step, { do: 'buy' }>) {
  return one.do === 'price' ? { price: formatAmount(one.price) } : { status: statusAfter[one.do] }
}

function expectedOf({ status, owners }: Sold, who: number): number {
  if (status !== 'active') return 404
  return owners.has(who) ? 409 : 200
}

async function buy(shop: Shop, model: Model, one: Extract<Step, { do: 'buy' }>): Promise<void> {
  const file = model.sold[one.what] as Sold
  const buyer = shop.buyers[one.who] as Person
  const path = `/v1/products/${shop.ids[one.what]}`
  const answer: Answer =
    one.from === 'x402'
      ? await buyer.pay(`${path}/purchase`)
      : await market.call('POST', `${path}/purchase`, { headers: { 'X-BALANCE-AUTH': buyer.key } })
  const expected = expectedOf(file, one.who)
  expect(answer.status, answer.text).toBe(expected)
  if (expected === 200) {
    const net = netOf(file, one.from)
    const agent = agentPrice(net)
    const fee = agent - net
    const shares = (fee * 20n) / 100n + (fee * 25n) / 100n
    expect(answer.body.amount).toBe(formatAmount(agent))
    file.owners.add(one.who)
    model.net += net
    model.fees += fee - shares
    model.referrals += shares
    model.spent[one.who] = (model.spent[one.who] as bigint) + agent
  }
  expect((await buyer.call('GET', `${path}/download`)).status === 200).toBe(file.owners.has(one.who))
}

test('every history leaves the books, the wallets and the downloads as the model says', async () => {
  expect(agentPrice(500_000n)).toBe(525_000n)
  expect(agentPrice(MAX_PRICE)).toBe(10_500_000_000n)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: MAX_STEPS }), async (steps) => {
      const shop = await openShop()
      const [fees, referrals] = [await booked(account.fees), await booked(account.referralPending(referrer.id))]
      const funds = await Promise.all(shop.buyers.map(onChain))
      const model: Model = {
        sold: shop.ids.map(() => ({ price: 1_000_000n, status: 'active', owners: new Set() })),
        net: 0n,
        fees: 0n,
        referrals: 0n,
        spent: shop.buyers.map(() => 0n),
      }
      for (const one of steps) await take(shop, model, one)
      expect(await booked(account.provider(shop.seller.id))).toBe(model.net)
      expect((await booked(account.fees)) - fees).toBe(model.fees)
      expect((await booked(account.referralPending(referrer.id))) - referrals).toBe(model.referrals)
      for (const [who, buyer] of shop.buyers.entries()) {
        const left = (await onChain(buyer)) + (await booked(account.balance(buyer.id)))
        expect((funds[who] as bigint) + 10_000_000n - left).toBe(model.spent[who])
      }
      await soundBooks(market)
    }),
    { numRuns: RUNS },
  )
})
