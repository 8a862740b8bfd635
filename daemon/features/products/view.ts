import type { z } from 'zod'
import { Product, Purchase } from '../../../src/api/sections/products.ts'
import { pick } from '../../../src/core/record.ts'
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
    ...pick(row, Product.shape),
    product_id: row.id,
    provider_name: provider.name,
    agent_price: agent,
    provider_net_price: net,
    status: shownStatus(row.status),
    endpoint: `POST /v1/products/${row.id}/purchase`,
  }
}

export function purchaseView(row: PurchaseRow, baseUrl: string): z.output<typeof Purchase> {
  return {
    ...pick(row, Purchase.shape),
    purchase_id: row.id,
    payment: { method: row.payment_method, transaction: row.transaction },
    download_url: `${baseUrl}/v1/products/${row.product_id}/download`,
  }
}
