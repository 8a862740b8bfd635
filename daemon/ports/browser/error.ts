/**
 * Why a browser job failed. `page`: because of the page. `busy`: the job never started. `gone`: the browser did not
 * start, or it crashed.
 */
export type BrowserFailure = 'page' | 'busy' | 'gone'

/** The message is safe to show to buyers. */
export class BrowserError extends Error {
  override readonly name = 'BrowserError'
  readonly failure: BrowserFailure

  constructor(failure: BrowserFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}
