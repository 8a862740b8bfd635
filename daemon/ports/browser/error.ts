/**
 * Why a browser failed. `page`: the page's fault, in public words; `busy`: never started; `gone`: did not start or
 * crashed.
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
