import { ProductRow, PurchaseRow } from '../../src/model/product.ts'
import { ThreadFileRow } from '../../src/model/thread-file.ts'
import { defineCollection } from './port.ts'

/* Collections whose rows name files; each has an index `file`, so that what nobody names can be swept. */

export const threadFiles = defineCollection('thread_files', {
  schema: ThreadFileRow,
  key: 'id',
  indexes: [
    { name: 'thread', fields: ['thread_id', 'created_at'] },
    { name: 'file', fields: ['file_sha256'] },
  ],
})

export const products = defineCollection('products', {
  schema: ProductRow,
  key: 'id',
  indexes: [
    { name: 'status', fields: ['status', 'listed_at'], order: 'desc' },
    { name: 'category', fields: ['status', 'category', 'listed_at'], order: 'desc' },
    { name: 'provider', fields: ['provider_id', 'status', 'listed_at'], order: 'desc' },
    { name: 'own', fields: ['provider_id', 'listed_at'], order: 'desc', where: { field: 'kept', equals: true } },
    { name: 'file', fields: ['file_sha256'] },
  ],
})

export const purchases = defineCollection('purchases', {
  schema: PurchaseRow,
  key: 'id',
  indexes: [
    { name: 'buyer', fields: ['buyer_wallet', 'created_at'], order: 'desc' },
    { name: 'bought', fields: ['product_id', 'buyer_wallet'], unique: true },
    { name: 'file', fields: ['file_sha256'] },
  ],
})
