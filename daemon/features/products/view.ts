import type { z } from 'zod'
import type { Product, Purchase } from '../../../src/api/sections/products.ts'
import { shownStatus } from '../../kernel/participant.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { type Split, split } from '../ledger/split.ts'
import type { ProductRow, PurchaseRow } from './rows.ts'

export function productSplit(product: Pick<ProductRow, 'price'>, provider: Pick<ParticipantRow, 'first_party'>): Split {
  return split(provider.first_party ? 'first_party' : 'third_party', product.price)
}

export function productView(row: ProductRow, provider: ParticipantRow): z.output<typeof Product> {
  const { agent, net } = productSplit(row, provider)
  return {
    id: row.id,
    product_id: row.id,
    provider_id: row.provider_id,
    provider_name: provider.name,
    name: row.name,
    description: row.description,
    category: row.category,
    price: row.price,
    agent_price: agent,
    provider_net_price: net,
    status: shownStatus(row.status),
    file: row.file,
    sold: row.sold,
    endpoint: `POST /v1/products/${row.id}/purchase`,
    created_at: row.created_at,
    listed_at: row.listed_at,
    updated_at: row.updated_at,
  }
}

export function purchaseView(row: PurchaseRow, baseUrl: string): z.output<typeof Purchase> {
  return {
    id: row.id,
    purchase_id: row.id,
    product_id: row.product_id,
    product_name: row.product_name,
    provider_id: row.provider_id,
    amount: row.amount,
    receipt_id: row.receipt_id,
    payment: { method: row.payment_method, transaction: row.transaction },
    file: row.file,
    download_url: `${baseUrl}/v1/products/${row.product_id}/download`,
    created_at: row.created_at,
  }
}
