import { quoteWindowSeconds } from '../core/limits.ts'
import { maxPriceHeader } from './endpoint/credentials.ts'

/** Promises to buyers on price changes, in Markdown. */
export const pricePromises: readonly string[] = [
  `- \`${maxPriceHeader}: 0.50\` with a paid request says what it may cost at most, in dollars. Above it the answer is 409 with the price, and nothing is charged; the command line always sends it.`,
  `- What was quoted is what is bought: for ${quoteWindowSeconds} s after an edit the price and terms before it stay good. Within them a signature buys at the price that was signed, and a balance pays the lower of the two.`,
]
