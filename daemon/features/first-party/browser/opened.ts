import { AppError } from '../../../../src/core/error.ts'
import type { ScreenName } from '../../../ports/browser/browser.ts'
import { BrowserError } from '../../../ports/browser/error.ts'
import type { BrowserPage, Loaded } from '../../../ports/browser/page.ts'
import { EngineGone } from '../../../ports/engine.ts'
import { WebError } from '../../../ports/web/error.ts'
import { isOk } from '../docs/pages.ts'
import type { ResultEngine } from '../service/engines.ts'
import { type JsonInput, type ServiceCtx, textOf, wrongField } from '../service/service.ts'

export type BrowserCtx = ServiceCtx<'browser'>

export type Opening = {
  readonly input: JsonInput
  /** Name of the input field that holds the URL. */
  readonly field: string
  readonly screen: ScreenName
}

/**
 * Opens a page in a new browser; `field` names the input field that contains the page's URL.
 * @throws AppError input_invalid for a refused address, provider_failed for an unavailable page
 */
export async function onPage<T>(
  ctx: BrowserCtx,
  { input, field, screen }: Opening,
  work: (page: BrowserPage, loaded: Loaded) => Promise<T>,
): Promise<T> {
  return inBrowser(ctx, { field, screen }, async (page) =>
    work(page, await loadedOk(page, textOf(input, field).trim())),
  )
}

/** @throws AppError provider_failed if the page returned an error status */
export async function loadedOk(page: BrowserPage, url: string): Promise<Loaded> {
  const loaded = await page.load(url)
  if (!isOk(loaded)) throw new AppError('provider_failed', `The page returned status ${loaded.status}.`)
  return loaded
}

/** Runs `work` on a page of a new browser. @throws AppError or EngineGone when page or browser fails */
export async function inBrowser<T>(
  { engines, signal, who }: BrowserCtx,
  { field, screen }: Omit<Opening, 'input'>,
  work: (page: BrowserPage) => Promise<T>,
): Promise<T> {
  try {
    return await engines.browser.withPage({ screen, signal, who }, work)
  } catch (error) {
    throw asServiceError(error, field)
  }
}

function asServiceError(cause: unknown, field: string): unknown {
  if (cause instanceof WebError && cause.isRefusal) return wrongField(field, cause.message, cause)
  if (cause instanceof WebError && cause.failure !== 'aborted') {
    return new AppError('provider_failed', `The page could not be read. ${cause.message}`, { cause })
  }
  if (!(cause instanceof BrowserError)) return cause
  if (cause.failure === 'page') return new AppError('provider_failed', `${cause.message}.`, { cause })
  return cause.failure === 'gone' ? new EngineGone('the browser', { cause }) : cause
}

export function engineOf({ engines }: BrowserCtx): ResultEngine {
  const [name = 'Chromium', ...rest] = engines.browser.version().split(' ')
  return { name: name.toLowerCase(), version: rest.find((word) => /^\d/.test(word)) ?? '0', kind: 'deterministic' }
}
