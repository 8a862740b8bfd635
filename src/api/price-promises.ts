import { quoteWindowSeconds } from '../core/limits.ts'
import { maxPriceHeader } from './endpoint/credentials.ts'

/** Promises to buyers on price changes, in Markdown. */
export const pricePromises: readonly string[] = [
  `- \`${maxPriceHeader}: 0.50\` with a paid request sets the highest price to pay, in dollars. Above it the response is 409 with the price, and nothing is charged; the command line always sends it.`,
  `- You buy what was quoted: for ${quoteWindowSeconds} s after an edit, the earlier price and terms stay valid. In that time, a signed payment buys at the price it was signed for. A payment from the balance pays the lower of the old and the new price.`,
]
