import type { WireAnswer } from '../api/index.ts'
import { byteSize } from '../text/text.ts'
import * as column from './columns.ts'
import type { Noun } from './noun.ts'
import { dim, good, type Toned } from './tones.ts'

export type Product = WireAnswer<'getProduct'>

const states: Readonly<Record<Product['status'], Toned>> = {
  draft: dim('○ draft'),
  active: good('● for sale'),
  inactive: dim('‖ withdrawn'),
  deleted: dim('× deleted'),
}

export function fileWords({ file }: Pick<Product, 'file'>): string {
  return file === null ? 'no file yet' : `${file.name}   ${byteSize(file.size_bytes)}   ${file.content_type}`
}

export const product: Noun<Product> = {
  name: 'product',
  plural: 'products',
  list: 'listAllProducts',
  none: 'no such product',
  source: ['a seller creates one', 'souk products create'],
  idOf: ({ product_id }) => product_id,
  nameOf: ({ name }) => name,
  stateOf: ({ status }) => states[status],
  columns: [
    column.id('ID', (product) => product.id),
    column.name('NAME', (product) => product.name),
    column.word('PROVIDER', ({ provider_name, provider_id }) => provider_name || provider_id, {
      drop: 2,
      on: ['all', 'screen'],
    }),
    column.word('CATEGORY', ({ category }) => category, { drop: 3 }),
    column.state('STATUS', ({ status }) => status, { drop: 1 }),
    column.money('YOU PAY', ({ agent_price }) => `$${agent_price}`, {
      all: 'BUYER PAYS',
      plain: ({ agent_price }) => agent_price,
    }),
    column.count('SIZE', ({ file }) => file && byteSize(file.size_bytes), {
      plain: ({ file }) => file?.size_bytes,
      drop: 4,
    }),
    column.count('SOLD', ({ sold }) => sold, { drop: 2 }),
    column.age(({ listed_at }) => listed_at),
  ],
  facts: (product) => [
    ['about', product.description],
    ['provider', `${product.provider_name}   ${product.provider_id}`],
    ['category', product.category],
    ['price', `$${product.agent_price}; the provider gets $${product.provider_net_price}`],
    ['file', fileWords(product)],
    ['sha-256', product.file?.sha256 ?? ''],
    ['sold', String(product.sold)],
  ],
  nextOf: ({ product_id, status }) => (status === 'active' ? `souk products buy ${product_id}` : undefined),
}
