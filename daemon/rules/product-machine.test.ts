import { afterAll, beforeAll, expect, test } from 'vitest'
import { filePart, formBytes, sendForm } from '../../fixtures/forms.ts'
import { type Answer, type Marketplace, openMarketplace } from '../../fixtures/marketplace.ts'
import { type Person, registered } from '../../fixtures/people.ts'
import { type ProductRow, productStatuses } from '../../src/model/product.ts'
import { allowedEvents, findTransition } from './machine.ts'
import { productMachine } from './product-machine.ts'

type ProductStatus = ProductRow['status']
type Event = (typeof productMachine)['transitions'][number]['event']

let market: Marketplace
let provider: Person
beforeAll(async () => {
  market = await openMarketplace()
  provider = await registered(market, { type: 'provider' })
})
afterAll(() => market.close())

/** How each event is made to happen over HTTP. */
const acts: Record<Event, (id: string) => Promise<Answer>> = {
  publish: (id) =>
    sendForm(market, {
      method: 'PUT',
      path: `/v1/products/${id}`,
      key: provider.key,
      body: formBytes([filePart('x')]),
    }),
  withdraw: (id) => provider.call('PUT', `/v1/products/${id}`, { status: 'inactive' }),
  offer: (id) => provider.call('PUT', `/v1/products/${id}`, { status: 'active' }),
  delete: (id) => provider.call('DELETE', `/v1/products/${id}`),
}
const wayTo: Record<ProductStatus, readonly Event[]> = {
  draft: [],
  active: ['publish'],
  inactive: ['publish', 'withdraw'],
  deleted: ['delete'],
}
/** Asked for what is so already: nothing happens. */
const isSo = (from: ProductStatus, event: Event) =>
  (from === 'active' && event === 'offer') || (from === 'inactive' && event === 'withdraw')

async function productIn(status: ProductStatus): Promise<string> {
  const { body } = await provider.call('POST', '/v1/products', { name: 'A book', price: '1.00' })
  for (const event of wayTo[status]) expect((await acts[event](body.id)).status).toBe(200)
  return body.id
}

const pairs = productStatuses.flatMap((from) => (Object.keys(acts) as Event[]).map((event) => [from, event] as const))

test.each(pairs)('%s, %s: as the table says', async (from, event) => {
  const answer = await acts[event](await productIn(from))
  const row = findTransition(productMachine, { event, from, by: 'provider' })
  if (from === 'deleted') expect(answer.status).toBe(404)
  else if (row) expect([answer.status, answer.body.status ?? 'deleted']).toEqual([200, row.to])
  else if (isSo(from, event)) expect([answer.status, answer.body.status]).toEqual([200, from])
  else {
    expect([answer.status, answer.body.code, answer.body.from, answer.body.allowed]).toEqual([
      409,
      'invalid_transition',
      from,
      allowedEvents(productMachine, { from, by: 'provider' }),
    ])
  }
})
