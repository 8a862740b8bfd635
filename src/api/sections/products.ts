import { z } from 'zod'
import { Amount, idOf, namedObject, Time } from '../../core/codecs.ts'
import { MAX_NAME_CHARS, MAX_PRODUCT_BYTES, MAX_TEXT_CHARS } from '../../core/limits.ts'
import { paymentMethods } from '../../model/job.ts'
import { PublicName, paged, pageQuery, QueryBoolean } from '../endpoint/common.ts'
import { endpointsWith, file, json, jsonBody, key, multipart, openOrKey, paid } from '../endpoint/define.ts'
import { MAX_QUERY_CHARS, PriceInput } from './services.ts'

const endpoint = endpointsWith({ section: 'Digital products' })

/** Facts about a file. Its hash verifies a download. */
export const FileFacts = namedObject('FileFacts', {
  name: z.string(),
  size_bytes: z.int(),
  content_type: z.string(),
  sha256: z.string(),
})

export const Product = namedObject('Product', {
  id: idOf('product'),
  product_id: idOf('product'),
  provider_id: idOf('participant'),
  provider_name: z.string(),
  name: z.string(),
  description: z.string(),
  category: z.string(),
  price: Amount,
  agent_price: Amount.meta({ description: 'price for the buyer' }),
  provider_net_price: Amount,
  status: z.enum(['draft', 'active', 'inactive', 'deleted']),
  file: FileFacts.nullable().meta({ description: 'null: a draft' }),
  sold: z.int(),
  endpoint: z.string(),
  created_at: Time,
  listed_at: Time,
  updated_at: Time,
})

/** A purchased product; its file stays available. */
export const Purchase = namedObject('Purchase', {
  id: idOf('purchase'),
  purchase_id: idOf('purchase'),
  product_id: idOf('product'),
  product_name: z.string(),
  provider_id: idOf('participant'),
  amount: Amount,
  receipt_id: idOf('receipt'),
  payment: z.strictObject({ method: z.enum(paymentMethods), transaction: z.string().nullable() }),
  file: FileFacts,
  download_url: z.string(),
  created_at: Time,
})

/** A new product (decisions §9). When it is sent as a form, all its members are text. */
const NewProduct = z.strictObject({
  name: PublicName,
  description: z.string().max(MAX_TEXT_CHARS).optional(),
  price: PriceInput,
  category: z.string().trim().min(1).max(MAX_NAME_CHARS).optional(),
})
const ProductChange = NewProduct.partial().extend({
  status: z.enum(['active', 'inactive']).optional().meta({ description: 'for sale, or withdrawn' }),
})
export type NewProduct = z.output<typeof NewProduct>
export type ProductChange = z.output<typeof ProductChange>

export const productsApi = {
  listProducts: endpoint({
    path: '/v1/products',
    access: openOrKey,
    query: z.strictObject({
      q: z.string().max(MAX_QUERY_CHARS).optional().meta({ description: 'words in name, description or category' }),
      category: z.string().max(MAX_QUERY_CHARS).optional(),
      provider: z.string().max(MAX_QUERY_CHARS).optional().meta({ description: 'participant id' }),
      mine: QueryBoolean.optional().meta({ description: 'own products of every status; needs a key' }),
      ...pageQuery,
    }),
    reply: json({ products: z.array(Product), ...paged }),
    summary: 'product catalog',
  }),

  createProduct: endpoint({
    path: '/v1/products',
    access: key('provider'),
    feature: 'digital_products',
    needsTerms: true,
    body: multipart(NewProduct, { maxFileBytes: MAX_PRODUCT_BYTES, orJson: true }),
    reply: json(Product),
    errors: ['conflict', 'unavailable'],
    summary: 'create a product, multipart',
  }),

  getProduct: endpoint({
    path: '/v1/products/:id',
    access: openOrKey,
    reply: json(Product),
    summary: 'product details',
  }),

  updateProduct: endpoint({
    method: 'PUT',
    path: '/v1/products/:id',
    access: key('provider'),
    feature: 'digital_products',
    needsTerms: true,
    body: multipart(ProductChange, { maxFileBytes: MAX_PRODUCT_BYTES, orJson: true }),
    reply: json(Product),
    errors: ['not_found', 'invalid_transition', 'conflict', 'unavailable'],
    summary: 'update metadata',
  }),

  deleteProduct: endpoint({
    method: 'DELETE',
    path: '/v1/products/:id',
    access: key('provider'),
    feature: 'digital_products',
    needsTerms: true,
    reply: json({ id: idOf('product'), product_id: idOf('product'), deleted: z.literal(true) }),
    summary: 'delete',
  }),
}

export const productSalesApi = {
  purchaseProduct: endpoint({
    path: '/v1/products/:id/purchase',
    access: paid('varies'),
    feature: 'digital_products',
    body: jsonBody({}),
    reply: json(Purchase),
    errors: ['not_found', 'registration_required'],
    summary: 'purchase',
  }),

  downloadProduct: endpoint({
    path: '/v1/products/:id/download',
    reply: file,
    summary: 'download a purchased product',
  }),

  listPurchases: endpoint({
    path: '/v1/purchases',
    query: z.strictObject(pageQuery),
    reply: json({ purchases: z.array(Purchase), ...paged }),
    summary: 'list own product purchases',
  }),
}
