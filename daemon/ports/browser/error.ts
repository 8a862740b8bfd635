/**
 * Why a browser gave nothing. `page`: what the page did, in words for a stranger; `busy`: it was never begun; `gone`:
 * the browser does not start or ended by itself.
 */
export type BrowserFailure = 'page' | 'busy' | 'gone'

/** The message is safe to show to whoever bought. */
export class BrowserError extends Error {
  override readonly name = 'BrowserError'
  readonly failure: BrowserFailure

  constructor(failure: BrowserFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}
