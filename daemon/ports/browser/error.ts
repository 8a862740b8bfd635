import { WorkError } from '../../../src/core/error.ts'

/**
 * Why a browser job failed. `page`: because of the page. `busy`: the job never started. `gone`: the browser did not
 * start, or it crashed.
 */
export type BrowserFailure = 'page' | 'busy' | 'gone'

/** The message is safe to show to buyers. */
export class BrowserError extends WorkError<BrowserFailure> {
  override readonly name = 'BrowserError'
}
