import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { filePart, formBytes, sendForm } from '../../../fixtures/kit/forms.ts'
import { type Answer, type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { productStatuses } from '../../../src/model/words.ts'
import { allowedActs, findTransition } from '../../kernel/machine.ts'
import { productMachine } from './routes.ts'
import { type ProductRow, products } from './rows.ts'

type ProductStatus = ProductRow['status']
type Event = (typeof productMachine)['transitions'][number]['event']

let market: Marketplace
let provider: Person
beforeAll(async () => {
  market = await openMarketplace()
  provider = await registered(market, { type: 'provider' })
})
afterAll(() => market.close())

/** A product goes and comes back with its provider. @returns what became of it. */
async function setSuspended(id: string, suspended: boolean): Promise<Answer> {
  const path = `/dashboard/api/admin/participants/${provider.id}`
  const answer = await market.admin('PUT', path, { body: { suspended, reason: 'a test' } })
  expect(answer.status).toBe(200)
  const row = await market.daemon.ctx.store.table(products).get(id)
  return { ...answer, body: { status: row?.status } }
}

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
  suspend: (id) => setSuspended(id, true),
  reinstate: (id) => setSuspended(id, false),
}
const wayTo: Record<ProductStatus, readonly Event[]> = {
  draft: [],
  active: ['publish'],
  inactive: ['publish', 'withdraw'],
  suspended: ['publish', 'suspend'],
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

afterEach(async () => {
  await setSuspended('', false)
})

test.each(pairs)('%s, %s: as the table says', async (from, event) => {
  const answer = await acts[event](await productIn(from))
  const isOfAdmin = event === 'suspend' || event === 'reinstate'
  const row = findTransition(productMachine, { event, from, by: isOfAdmin ? 'admin' : 'provider' })
  if (isOfAdmin) expect(answer.body.status).toBe(row?.to ?? from)
  else if (from === 'suspended') expect([answer.status, answer.body.code]).toEqual([403, 'forbidden'])
  else if (from === 'deleted') expect(answer.status).toBe(404)
  else if (row) expect([answer.status, answer.body.status ?? 'deleted']).toEqual([200, row.to])
  else if (isSo(from, event)) expect([answer.status, answer.body.status]).toEqual([200, from])
  else {
    expect([answer.status, answer.body.code, answer.body.from, answer.body.allowed]).toEqual([
      409,
      'invalid_transition',
      from,
      allowedActs(productMachine, { from, by: 'provider' }),
    ])
  }
})
