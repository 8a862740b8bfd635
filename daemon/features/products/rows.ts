import { z } from 'zod'
import { Micro, StoredFile, StoredWallet } from '../../../src/core/codecs.ts'
import { paymentMethods } from '../../../src/model/job.ts'
import { productStatuses } from '../../../src/model/words.ts'
import { type AnyCollection, defineCollection, stored } from '../../store/port.ts'

/** A stored product. Its file is set once, so that sold products stay the same. */
export const products = defineCollection('products', {
  schema: z.strictObject({
    ...stored,
    provider_id: z.string(),
    name: z.string(),
    description: z.string(),
    price: Micro,
    /** The previous version, and until when (wall time) it is valid. */
    previous: z.strictObject({ version: z.strictObject({ price: Micro }), until: z.int() }).exactOptional(),
    category: z.string(),
    status: z.enum(productStatuses),
    /** Null for a draft without a file. */
    file: StoredFile.nullable(),
    /** Hash of the file. Stored files whose hash is in no row are removed. */
    file_sha256: z.string().nullable(),
    /** Not deleted. */
    kept: z.boolean(),
    sold: z.int(),
    created_at: z.int(),
    /** When the product was first offered; for a draft, when it was created. */
    listed_at: z.int(),
    updated_at: z.int(),
  }),
  indexes: [
    { name: 'status', fields: ['status', 'listed_at'], order: 'desc' },
    { name: 'category', fields: ['status', 'category', 'listed_at'], order: 'desc' },
    { name: 'provider', fields: ['provider_id', 'status', 'listed_at'], order: 'desc' },
    { name: 'newest', fields: ['listed_at'], order: 'desc', where: { field: 'kept', equals: true } },
    { name: 'own', fields: ['provider_id', 'listed_at'], order: 'desc', where: { field: 'kept', equals: true } },
    { name: 'file', fields: ['file_sha256'] },
  ],
})
export type ProductRow = z.infer<typeof products.schema>

/** A purchased product. The buyer keeps the file even if the product is deleted. */
export const purchases = defineCollection('purchases', {
  schema: z.strictObject({
    ...stored,
    product_id: z.string(),
    product_name: z.string(),
    provider_id: z.string(),
    buyer_wallet: StoredWallet,
    buyer_id: z.string(),
    file: StoredFile,
    file_sha256: z.string(),
    amount: Micro,
    fee: Micro,
    provider_amount: Micro,
    receipt_id: z.string(),
    payment_method: z.enum(paymentMethods),
    transaction: z.string().nullable(),
    created_at: z.int(),
  }),
  indexes: [
    { name: 'buyer', fields: ['buyer_wallet', 'created_at'], order: 'desc' },
    { name: 'bought', fields: ['product_id', 'buyer_wallet'], unique: true },
    { name: 'file', fields: ['file_sha256'] },
  ],
})
export type PurchaseRow = z.infer<typeof purchases.schema>

export const productCollections: readonly AnyCollection[] = [products, purchases]
