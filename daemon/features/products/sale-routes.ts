import { z } from 'zod'
import { Product, Purchase, type productSalesApi } from '../../../src/api/sections/products.ts'
import { AppError, existing, notFound } from '../../../src/core/error.ts'
import { amountOf, formatAmount } from '../../../src/core/money.ts'
import { pick } from '../../../src/core/record.ts'
import { emit } from '../../events/event-log.ts'
import { type ParticipantRow, providerOf, refuseSuspendedProvider, shownStatus } from '../../kernel/rows.ts'
import { offsetPage } from '../../store/each-page.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { legsOf, type Split, split } from '../ledger/legs.ts'
import { chosenOffer, stillGood, type Tender } from '../listings/quote-window.ts'
import type { Fulfilment, Handlers, Payer } from '../payments/seller.ts'
import { referrersOf } from '../referrals/referrals.ts'
import { type ProductRow, type PurchaseRow, products, purchases } from './rows.ts'

/** Quoted terms. The payment row stores them, so that they cannot change. */
const Terms = z.strictObject({ net: z.string(), fee: z.string() })

export const productSaleRoutes: Handlers<typeof productSalesApi> = {
  /**
   * Purchase of a product (decisions §9). There is no escrow, and the file is available immediately. A purchase stays
   * valid if the product is withdrawn after the quote, but not if the provider is suspended.
   */
  purchaseProduct: {
    async quote({ params }, { ctx, tender, wall }) {
      return ctx.store.read(async (t) => {
        const product = await forSale(t, params.id)
        const { agent, net, fee } = sharesFor(product, await providerOf(t, product), { tender, wall })
        return {
          price: agent,
          settle: 'first',
          description: product.name,
          terms: { net: formatAmount(net), fee: formatAmount(fee) },
        }
      })
    },

    async check({ params }, { ctx, payer }) {
      await ctx.store.read(async (t) => {
        const product = await forSale(t, params.id)
        registeredPayer(payer)
        const { wallet } = await providerOf(t, product)
        if (wallet === payer.wallet) throw new AppError('conflict', 'A provider cannot buy its own product.')
        await refuseOwned(t, product.id, payer)
      })
    },

    async fulfil(t, draw, fulfilment) {
      const { payer, baseUrl, now } = fulfilment
      const product = existing(await t.table(products).getForUpdate(fulfilment.input.params.id), 'The product')
      await refuseSuspendedProvider(t, product.provider_id)
      await refuseOwned(t, product.id, payer)
      const purchase = await t.table(purchases).insert(purchaseOf(draw, fulfilment, product))
      await t.table(products).put({ ...product, sold: product.sold + 1 })
      await notifyBoth(t, draw, { purchase, now })
      const { provider_id: providerId } = product
      const split: Split = { agent: purchase.amount, net: purchase.provider_amount, fee: purchase.fee }
      const referrers = await referrersOf(t, { buyer: { wallet: payer.wallet }, providerId })
      return {
        kind: 'product_sale',
        ref: { kind: 'purchase', id: purchase.id },
        legs: legsOf.instantSale({ source: fulfilment.source, providerId, split, referrers }),
        answer: purchaseView(purchase, baseUrl),
      }
    },
  },

  /** Download for buyers in every state of the product, and for its owner. */
  downloadProduct: async ({ params }, { ctx, caller }) =>
    ctx.store.read(async (t) => {
      const product = existing(await t.table(products).get(params.id), 'The product')
      const bought = await purchaseBy(t, product.id, caller.wallet)
      if (bought) return bought.file
      if (product.provider_id !== caller.id)
        throw product.status === 'active' ? notBought(product) : notFound('The product')
      if (!product.file) throw notFound('The file of this draft')
      return product.file
    }),

  listPurchases: async ({ query }, { ctx, caller }) => {
    return ctx.store.read(async (t) => {
      const slice = { ...query, index: 'buyer', prefix: [caller.wallet] }
      const { rows, ...page } = await offsetPage(t.table(purchases), slice)
      return { purchases: rows.map((row) => purchaseView(row, ctx.baseUrl())), ...page }
    })
  },
}

type Paying = { readonly tender: Tender; readonly wall: number }

/** Shares of the current price, or of the previous price if that one was quoted. */
function sharesFor(product: ProductRow, provider: ParticipantRow, { tender, wall }: Paying): Split {
  const before = stillGood(product.previous, wall)
  const today = offerOf(product, provider)
  return (chosenOffer({ before: before && offerOf(before, provider), today }, tender) ?? today).split
}

function offerOf(version: Pick<ProductRow, 'price'>, provider: ParticipantRow) {
  const split = productSplit(version, provider)
  return { price: split.agent, settle: 'first', split } as const
}

async function forSale(t: ReadTx, id: string): Promise<ProductRow> {
  const product = await t.table(products).get(id)
  if (product?.status !== 'active') throw notFound('The product')
  return product
}

function registeredPayer({ participant }: Payer): ParticipantRow {
  if (participant) return participant
  throw new AppError('registration_required', 'Buying a product needs a registered wallet: POST /v1/register first.')
}

async function purchaseBy(t: ReadTx, productId: string, wallet: string): Promise<PurchaseRow | undefined> {
  return (await t.table(purchases).page('bought', [productId, wallet], { limit: 1 })).rows[0]
}

async function refuseOwned(t: ReadTx, productId: string, { wallet }: Payer): Promise<void> {
  const owned = await purchaseBy(t, productId, wallet)
  if (!owned) return
  throw new AppError('conflict', 'This wallet already owns the product: download it.', {
    extra: { purchase_id: owned.id, download: `GET /v1/products/${productId}/download` },
  })
}

function purchaseOf(
  draw: Draw,
  { payer, payment, now }: Fulfilment<typeof productSalesApi.purchaseProduct>,
  product: ProductRow,
): Omit<PurchaseRow, 'version'> {
  if (!product.file) throw new Error(`product ${product.id} is for sale without a file`)
  const terms = Terms.parse(payment.terms)
  return {
    id: draw.id('purchase'),
    product_id: product.id,
    product_name: product.name,
    provider_id: product.provider_id,
    buyer_wallet: payer.wallet,
    buyer_id: registeredPayer(payer).id,
    file: product.file,
    file_sha256: product.file.sha256,
    amount: payment.price,
    fee: amountOf(terms.fee),
    provider_amount: amountOf(terms.net),
    receipt_id: payment.receipt_id,
    payment_method: payment.method,
    transaction: payment.transaction,
    created_at: now,
  }
}

async function notifyBoth(t: Tx, draw: Draw, { purchase, now }: { purchase: PurchaseRow; now: number }): Promise<void> {
  const { id, product_id, product_name } = purchase
  for (const participantId of [purchase.provider_id, purchase.buyer_id]) {
    await emit(t, draw, {
      type: 'product.sold',
      participantId,
      subject: { kind: 'purchase', id },
      data: { product_id, product_name, amount: formatAmount(purchase.amount) },
      at: now,
    })
  }
}

function notBought({ id }: ProductRow): AppError {
  return new AppError('forbidden', `Buy the product to download its file: POST /v1/products/${id}/purchase.`)
}

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
