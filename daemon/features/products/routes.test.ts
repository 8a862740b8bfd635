import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fieldPart, filePart, formBytes, sendForm, storedFiles } from '../../../fixtures/kit/forms.ts'
import { balanceOfAccount, credit, soundBooks } from '../../../fixtures/kit/money.ts'
import { type Answer, type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered, stranger } from '../../../fixtures/market/people.ts'
import { product } from '../../../fixtures/market/products.ts'
import { toWallet } from '../../../src/core/hex.ts'
import { background } from '../../kernel/context.ts'

// @story one shop that fills

let market: Marketplace
let provider: Person
let rival: Person
let buyer: Person
beforeAll(async () => {
  market = await openMarketplace()
  provider = await registered(market, { type: 'provider', name: 'a house' })
  rival = await registered(market, { type: 'provider' })
  buyer = await registered(market, { type: 'agent' })
})
afterAll(() => market.close())

const outcome = (answer: Answer) => [answer.status, answer.body?.code]
const make = async (made: Parameters<typeof product>[2] = {}) => (await product(market, provider, made)).body
const put = (person: Person, id: string, body: unknown) => person.call('PUT', `/v1/products/${id}`, body)
const upload = (person: Person, id: string, body: Buffer) =>
  sendForm(market, { method: 'PUT', path: `/v1/products/${id}`, key: person.key, body })
const purchase = (person: Person, id: string) => person.pay(`/v1/products/${id}/purchase`)
const download = (person: Person, id: string) => person.call('GET', `/v1/products/${id}/download`)

test('a product with its file is for sale at once', async () => {
  const made = await make({ price: '0.25', category: 'maps' })
  expect(made).toMatchObject({
    product_id: made.id,
    provider_id: provider.id,
    provider_name: 'a house',
    category: 'maps',
    price: '0.25',
    agent_price: '0.263',
    provider_net_price: '0.25',
    status: 'active',
    file: { name: 'notes.txt', size_bytes: 12, content_type: 'text/plain' },
    sold: 0,
  })
  expect((await market.call('GET', `/v1/products/${made.id}`)).body).toEqual(made)
  const page = await market.call('GET', '/v1/products?category=maps')
  expect(page.body).toEqual({ products: [made], total: 1, limit: 20, offset: 0 })
})

describe('a draft', () => {
  test('is made of JSON, seen by its owner alone, and sold by nobody', async () => {
    const { body: draft } = await provider.call('POST', '/v1/products', { name: 'Soon', price: 1.5 })
    expect(draft).toMatchObject({ status: 'draft', file: null, category: 'other', price: '1.50' })
    const path = `/v1/products/${draft.id}`
    expect(outcome(await market.call('GET', path))).toEqual([404, 'not_found'])
    expect(outcome(await rival.call('GET', path))).toEqual([404, 'not_found'])
    expect((await provider.call('GET', path)).body).toEqual(draft)
    expect(outcome(await purchase(buyer, draft.id))).toEqual([404, 'not_found'])
    expect(outcome(await download(provider, draft.id))).toEqual([404, 'not_found'])
    expect(outcome(await put(rival, draft.id, { name: 'Mine' }))).toEqual([404, 'not_found'])
    expect(outcome(await put(provider, draft.id, { status: 'active' }))).toEqual([409, 'invalid_transition'])
    const mine = await provider.call('GET', '/v1/products?mine=true&q=soon')
    expect(mine.body.products.map((one: { id: string }) => one.id)).toEqual([draft.id])
    expect((await market.call('GET', '/v1/products?q=soon')).body.total).toBe(0)
    expect(outcome(await market.call('GET', '/v1/products?mine=true'))).toEqual([401, 'unauthorized'])
  })

  test('is published by its file, with other changes beside it', async () => {
    const { body: draft } = await provider.call('POST', '/v1/products', { name: 'Soon', price: '1.50' })
    const answer = await upload(provider, draft.id, formBytes([fieldPart('price', '2.00'), filePart('now')]))
    expect(answer.body).toMatchObject({ status: 'active', name: 'Soon', price: '2.00', file: { size_bytes: 3 } })
  })
})

test('a file that is for sale is not replaced, and the new one is not kept', async () => {
  const { id } = await make()
  const before = await storedFiles(market)
  for (const [person, expected] of [
    [provider, [409, 'invalid_transition']],
    [rival, [403, 'forbidden']],
  ] as const) {
    expect(outcome(await upload(person, id, formBytes([filePart('another')])))).toEqual(expected)
  }
  expect(await storedFiles(market)).toEqual(before)
})

test('metadata changes for its owner, and a withdrawn product is not sold', async () => {
  const { id } = await make()
  const changed = await put(provider, id, { name: 'A better book', price: '$6.00', status: 'inactive' })
  expect(changed.body).toMatchObject({ name: 'A better book', price: '6.00', agent_price: '6.30', status: 'inactive' })
  expect(outcome(await purchase(buyer, id))).toEqual([404, 'not_found'])
  expect((await market.call('GET', '/v1/products?q=better')).body.total).toBe(0)
  expect((await put(provider, id, { status: 'active' })).body.status).toBe('active')
  expect((await market.call('GET', '/v1/products?q=BOOK+better')).body.total).toBe(1)
  expect(outcome(await put(rival, id, { name: 'Mine' }))).toEqual([403, 'forbidden'])
  expect(outcome(await put(provider, id, { colour: 'red' }))).toEqual([400, 'invalid_request'])
  expect(outcome(await put(provider, id, { price: '0.0001' }))).toEqual([400, 'invalid_request'])
})

describe('a purchase', () => {
  test('pays the provider and the fees at once, and opens the download', async () => {
    const { id } = await make({ price: '0.25' })
    expect(outcome(await download(buyer, id))).toEqual([403, 'forbidden'])
    const [net, fees] = [await balanceOfAccount(market, `prov:${provider.id}`), await balanceOfAccount(market, 'fees')]
    const bought = await purchase(buyer, id)
    expect(bought.body).toMatchObject({ product_id: id, amount: '0.263', payment: { method: 'x402' } })
    expect((await balanceOfAccount(market, `prov:${provider.id}`)) - net).toBe(250_000n)
    expect((await balanceOfAccount(market, 'fees')) - fees).toBe(13_000n)
    expect((await download(buyer, id)).text).toBe('a whole book')
    expect((await market.call('GET', `/v1/products/${id}`)).body.sold).toBe(1)
    const list = await buyer.call('GET', '/v1/purchases?limit=1')
    expect(list.body.purchases).toEqual([bought.body])
    await soundBooks(market)
  })

  test('is made from a balance too', async () => {
    const { id } = await make({ price: '2.00' })
    const other = await registered(market, { type: 'agent' })
    await credit(market, other.id, '5.00')
    const path = `/v1/products/${id}/purchase`
    const bought = await market.call('POST', path, { headers: { 'X-BALANCE-AUTH': other.key } })
    expect(bought.body, bought.text).toMatchObject({
      amount: '2.10',
      payment: { method: 'balance', transaction: null },
    })
    expect((await other.call('GET', '/v1/balance')).body.balance).toBe('2.90')
    await soundBooks(market)
  })

  test('is refused before any charge to strangers, to the owner, and a second time', async () => {
    const { id } = await make({ price: '0.01' })
    const nobody = await stranger(market)
    expect(outcome(await purchase(nobody, id))).toEqual([403, 'registration_required'])
    expect(outcome(await purchase(provider, id))).toEqual([409, 'conflict'])
    await purchase(buyer, id)
    const paid = await market.daemon.ctx.chain.balanceOf(market.daemon.ctx.chain.payTo)
    const again = await purchase(buyer, id)
    expect([...outcome(again), again.body.purchase_id]).toEqual([409, 'conflict', expect.stringMatching(/^pur_/)])
    expect(await market.daemon.ctx.chain.balanceOf(market.daemon.ctx.chain.payTo)).toBe(paid)
    expect(outcome(await market.call('POST', `/v1/products/${id}/purchase`, { body: { x: 1 } }))).toEqual([
      402,
      'payment_required',
    ])
  })

  test('of one product by one wallet twice at once charges once', async () => {
    const { id } = await make({ price: '0.01' })
    const twin = await registered(market, { type: 'agent' })
    const before = await market.daemon.ctx.chain.balanceOf(toWallet(twin.account.address))
    const answers = await Promise.all([purchase(twin, id), purchase(twin, id)])
    expect(answers.map((one) => one.status).toSorted()).toEqual([200, 409])
    await Promise.all(background.of(market.daemon.ctx))
    const after = await market.daemon.ctx.chain.balanceOf(toWallet(twin.account.address))
    expect(before - after).toBe(11_000n)
    await soundBooks(market)
  })
})

test('a deleted product stays for its buyers and its owner, and is gone for all others', async () => {
  const { id } = await make({ name: 'Gone soon' })
  await purchase(buyer, id)
  expect(outcome(await rival.call('DELETE', `/v1/products/${id}`))).toEqual([403, 'forbidden'])
  expect((await provider.call('DELETE', `/v1/products/${id}`)).body).toEqual({ id, product_id: id, deleted: true })
  expect((await download(buyer, id)).text).toBe('a whole book')
  expect((await download(provider, id)).text).toBe('a whole book')
  expect(outcome(await download(rival, id))).toEqual([404, 'not_found'])
  expect(outcome(await market.call('GET', `/v1/products/${id}/download`))).toEqual([401, 'unauthorized'])
  expect(outcome(await market.call('GET', `/v1/products/${id}`))).toEqual([404, 'not_found'])
  expect(outcome(await purchase(rival, id))).toEqual([404, 'not_found'])
  expect(outcome(await provider.call('DELETE', `/v1/products/${id}`))).toEqual([404, 'not_found'])
  expect((await market.call('GET', '/v1/products?q=gone')).body.total).toBe(0)
  const { body } = await buyer.call('GET', '/v1/purchases')
  expect(body.purchases.some((one: { product_id: string }) => one.product_id === id)).toBe(true)
})

test('the catalog filters, pages and counts', async () => {
  const house = await registered(market, { type: 'both' })
  for (const at of [1, 2, 3]) await product(market, house, { name: `Chart ${at}`, category: at === 3 ? 'sea' : 'land' })
  const names = async (query: string) => {
    const { body } = await market.call('GET', `/v1/products?${query}`)
    return [body.total, ...body.products.map((one: { name: string }) => one.name)]
  }
  expect(await names(`provider=${house.id}`)).toEqual([3, 'Chart 3', 'Chart 2', 'Chart 1'])
  expect(await names(`provider=${house.id}&category=land`)).toEqual([2, 'Chart 2', 'Chart 1'])
  expect(await names('category=land&limit=1&offset=1')).toEqual([2, 'Chart 1'])
  expect(await names('q=chart+land&limit=1&offset=1')).toEqual([2, 'Chart 1'])
  expect(await names('q=chart&category=sea')).toEqual([1, 'Chart 3'])
  expect((await market.call('GET', '/v1/products?limit=0')).body.details[0].path).toBe('limit')
})

test('an agent sells nothing', async () => {
  expect(outcome(await buyer.call('POST', '/v1/products', { name: 'A', price: '1' }))).toEqual([403, 'forbidden'])
})
