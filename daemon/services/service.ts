import { AppError } from '../../src/core/error.ts'
import type { PublicWeb } from '../ports/web.ts'
import { WebError } from '../ports/web-error.ts'

export type Json = string | number | boolean | null | Json[] | { [member: string]: Json }
export type JsonInput = { readonly [field: string]: Json }

export type ServiceCtx = {
  /** Aborted when the time is up or the buyer is gone; pass it on to whatever waits. */
  readonly signal: AbortSignal
  /** Reads what is public on the web; give it the signal. */
  readonly web: PublicWeb
}

export type ServiceDefinition = {
  /** Name of its listing in `fixtures/listings`; the file has it with dashes. */
  readonly slug: string
  /** Longest run; `DEFAULT_TIMEOUT_MS` unless told otherwise. */
  readonly timeoutMs?: number
  /**
   * Makes the deliverable from an input that its listing's schema has accepted.
   * @throws AppError input_invalid for an input that the schema cannot tell is wrong.
   */
  readonly run: (input: JsonInput, ctx: ServiceCtx) => Promise<Json> | Json
}

/** A first-party service as the daemon calls it: bounded in time and size, failing in one way. */
export type Service = {
  readonly slug: string
  /** @throws AppError provider_failed, or input_invalid where the buyer can mend it. */
  readonly run: (input: JsonInput, signal: AbortSignal, web?: PublicWeb) => Promise<Json>
}

/** An instant answer is given within this time (decisions §10). */
export const DEFAULT_TIMEOUT_MS = 30_000
/** Deliverables are stored and shown whole (decisions §8). */
export const MAX_DELIVERABLE_BYTES = 8 * 1024 * 1024

/** For services that stay off the web. */
const noWeb: PublicWeb = { get: refuse, resolve: refuse }

function refuse(): Promise<never> {
  return Promise.reject(new WebError('connect_failed', 'This service was given no web.'))
}

export function defineService(definition: ServiceDefinition): Service {
  return {
    slug: definition.slug,
    run: (input, signal, web = noWeb) => runBounded(definition, input, { signal, web }),
  }
}

async function runBounded(definition: ServiceDefinition, input: JsonInput, caller: ServiceCtx): Promise<Json> {
  const timeoutMs = definition.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const signal = AbortSignal.any([caller.signal, AbortSignal.timeout(timeoutMs)])
  try {
    signal.throwIfAborted()
    const deliverable = await Promise.race([definition.run(input, { ...caller, signal }), rejectOnAbort(signal)])
    return bounded(definition.slug, deliverable)
  } catch (error) {
    if (error instanceof AppError && (error.code === 'input_invalid' || error.code === 'provider_failed')) throw error
    throw new AppError('provider_failed', `${definition.slug} ${failure(signal)}.`, { cause: error })
  }
}

/** Its own words stay in the log: a stranger learns only that it failed, and whether time was the reason. */
function failure(signal: AbortSignal): string {
  if (!signal.aborted) return 'failed'
  const timedOut = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  return timedOut ? 'did not finish in time' : 'was cancelled'
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function bounded(slug: string, deliverable: Json): Json {
  const bytes = Buffer.byteLength(JSON.stringify(deliverable))
  if (bytes <= MAX_DELIVERABLE_BYTES) return deliverable
  throw new AppError(
    'provider_failed',
    `${slug} made a result of ${bytes} bytes; ${MAX_DELIVERABLE_BYTES} are allowed.`,
  )
}
