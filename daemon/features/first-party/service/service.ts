import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { compact } from '../../../../src/core/record.ts'
import { BrowserError } from '../../../ports/browser/error.ts'
import { EngineGone } from '../../../ports/engine.ts'
import { ProgramError } from '../../../ports/program/program.ts'
import { ThreadError } from '../../../ports/threads.ts'
import { WebError } from '../../../ports/web/error.ts'
import type { PublicWeb } from '../../../ports/web/web.ts'
import type { EngineName, Engines, ResultEngine } from './engines.ts'
import type { Elsewhere } from './step.ts'

export type JsonInput = { readonly [field: string]: Json }

export type ServiceCtx<Need extends EngineName = never, Want extends EngineName = never> = {
  /** Aborted when the time is up or the buyer is gone; pass it on to whatever waits. */
  readonly signal: AbortSignal
  /** Reads what is public on the web; give it the signal. */
  readonly web: PublicWeb
  /** Whose work it is, where something takes turns. */
  readonly who: string
  /** Wall time, epoch milliseconds. */
  readonly now: () => number
  /** What the service said that it needs, and what is there of what it can use. */
  readonly engines: Given<Need, Want>
  /** Runs what reads the words of strangers away from this thread. */
  readonly elsewhere: Elsewhere
}

type Given<Need extends EngineName, Want extends EngineName> = Pick<Engines, Need> & {
  readonly [name in Exclude<Want, Need>]?: Engines[name]
}

/** What can be said of an input before anything runs: cheap, and nothing is asked for. */
export type CheckCtx<Need extends EngineName = never, Want extends EngineName = never> = Pick<
  ServiceCtx<Need, Want>,
  'web' | 'engines'
>

/** What a service read for its work, as it is copied to a thread: no functions, and bytes as `Uint8Array`. */
export type ServiceDefinition<Source = undefined, Need extends EngineName = never, Want extends EngineName = never> = {
  /** Name of its listing in `fixtures/listings`; the file has it with dashes. */
  readonly slug: string
  /** Engines without which it cannot work: its listing is active while all of them are there. */
  readonly needs?: readonly Need[]
  /** Engines that it uses where they are there, and does without where they are not. */
  readonly wants?: readonly Want[]
  /** Of those that it wants, some of which it needs one, the best first: it does without the others. */
  readonly oneOf?: readonly Want[]
  /**
   * Refuses, before anything is paid, an input that the schema cannot tell is wrong.
   * @throws AppError input_invalid that names the field.
   */
  readonly check?: (input: JsonInput, ctx: CheckCtx<Need, Want>) => void
  /** Longest run; `DEFAULT_TIMEOUT_MS` unless told otherwise. */
  readonly timeoutMs?: number
  /**
   * Reads what the work needs, such as a page of the web. It only waits: what looks into the words of strangers is
   * done by `make`, or by a step where the next question depends on it.
   * @throws AppError input_invalid for an input that the schema cannot tell is wrong.
   */
  readonly read?: (input: JsonInput, ctx: ServiceCtx<Need, Want>) => Promise<Source> | Source
  /**
   * Makes the deliverable from an input that its listing's schema has accepted, on a thread of its own: a stranger
   * chose the input. A result that says no `engine` was made by this program alone.
   * @throws AppError input_invalid for an input that the schema cannot tell is wrong.
   */
  readonly make: (input: JsonInput, source: Source) => Json | Promise<Json>
  /**
   * Reads more, knowing what was made: it is made once more from that. Undefined: it stands as it was made. It only
   * waits, and is asked `MAX_ROUNDS` times at most.
   */
  readonly again?: (round: Round<Source>, ctx: ServiceCtx<Need, Want>) => Promise<Source | undefined>
  /** Whether making it takes a few milliseconds at most, whatever the input holds: then it stays on this thread. */
  readonly isQuick?: (input: JsonInput) => boolean
}

export type Round<Source> = { readonly input: JsonInput; readonly source: Source; readonly made: Json }

/** Makes a deliverable, or runs a step, on a thread. @throws ThreadError */
export type OnThread = (
  task:
    | { readonly name: 'make'; readonly args: readonly [slug: string, input: JsonInput, source: unknown] }
    | { readonly name: 'step'; readonly args: readonly [name: string, args: readonly unknown[]] },
  signal: AbortSignal,
) => Promise<unknown>

/** What a service works with; what is left out, it does without. */
export type ServiceMeans = {
  readonly web?: PublicWeb
  readonly onThread?: OnThread
  readonly engines?: Partial<Engines>
  readonly now?: () => number
  readonly who?: string
}

/** A first-party service as the daemon calls it: bounded in time and size, failing in one way. */
export type FirstPartyService = {
  readonly slug: string
  readonly needs: readonly EngineName[]
  readonly wants: readonly EngineName[]
  readonly oneOf: readonly EngineName[]
  /** What it cannot be bought for, by what there is not. */
  readonly lacking: (lacks: (names: readonly EngineName[]) => readonly string[]) => readonly string[]
  /** @throws AppError input_invalid, before anything is paid. */
  readonly check: (input: JsonInput, means?: Pick<ServiceMeans, 'web' | 'engines'>) => void
  /**
   * @throws AppError provider_failed, unavailable when an engine is gone or there is too much to do, or input_invalid
   * where the buyer can mend it.
   */
  readonly run: (input: JsonInput, signal: AbortSignal, means?: ServiceMeans) => Promise<Json>
  /** The work itself, for the thread that does it; `source` is what the same definition read. */
  readonly make: (input: JsonInput, source: unknown) => Json | Promise<Json>
}

/** An instant answer is given within this time (decisions §10). */
export const DEFAULT_TIMEOUT_MS = 30_000
/** Deliverables are stored and shown whole (decisions §8). */
export const MAX_DELIVERABLE_BYTES = 8 * 1024 * 1024

/** A queue of services is worked off in a few seconds. */
const BUSY_RETRY_S = 5

/** For services that stay off the web. */
const noWeb: PublicWeb = { get: refuse, resolve: refuse, check: () => undefined }

function refuse(): Promise<never> {
  return Promise.reject(new WebError('connect_failed', 'This service was given no web.'))
}

/** What is made, what a model says to it, and one time more where that was no use. */
const MAX_ROUNDS = 3

export function defineService<Source = undefined, Need extends EngineName = never, Want extends EngineName = never>(
  definition: ServiceDefinition<Source, Need, Want>,
): FirstPartyService {
  const { slug, isQuick, needs = [], wants = [], oneOf = [] } = definition
  const make = async (input: JsonInput, source: unknown) =>
    stamped(slug, await definition.make(input, source as Source)) // read by the same definition
  return {
    slug,
    needs,
    wants,
    oneOf,
    make,
    lacking: (lacks) => {
      const absent = lacks(oneOf)
      return [...lacks(needs), ...(absent.length === oneOf.length ? absent.slice(0, 1) : [])]
    },
    check: (input, { web = noWeb, engines = {} } = {}) =>
      definition.check?.(input, { web, engines: engines as Given<Need, Want> }), // whoever calls it has all or none
    run: (input, signal, { web = noWeb, onThread, engines = {}, now = () => 0, who = slug } = {}) =>
      runBounded(definition, signal, async (bounds) => {
        const elsewhere: Elsewhere = async (step, ...args) =>
          (await (onThread?.({ name: 'step', args: [step.name, args] }, bounds) ?? step.run(...args))) as never // its result
        const ctx = { signal: bounds, web, who, now, elsewhere, engines: given<Need, Want>(needs, engines) }
        const isHere = onThread === undefined || isQuick?.(input) === true
        const makeOf = async (source: Source) =>
          isHere
            ? make(input, source)
            : ((await onThread({ name: 'make', args: [slug, input, source] }, bounds)) as Json) // as `make` gives it
        return inRounds(definition, { input, ctx, makeOf })
      }),
  }
}

type Rounds<Source, Need extends EngineName, Want extends EngineName> = {
  readonly input: JsonInput
  readonly ctx: ServiceCtx<Need, Want>
  readonly makeOf: (source: Source) => Promise<Json>
}

async function inRounds<Source, Need extends EngineName, Want extends EngineName>(
  { read, again }: ServiceDefinition<Source, Need, Want>,
  { input, ctx, makeOf }: Rounds<Source, Need, Want>,
): Promise<Json> {
  let source = (await read?.(input, ctx)) as Source // undefined where nothing is read
  let made = await makeOf(source)
  for (let round = 1; again && round < MAX_ROUNDS; round += 1) {
    const more = await again({ input, source, made }, ctx)
    if (more === undefined) break
    source = more
    made = await makeOf(source)
  }
  return made
}

/** @throws EngineGone for the first that is not there. */
function given<Need extends EngineName, Want extends EngineName>(
  needs: readonly Need[],
  engines: Partial<Engines>,
): Given<Need, Want> {
  const absent = needs.find((name) => engines[name] === undefined)
  if (absent !== undefined) throw new EngineGone(absent)
  return engines as Given<Need, Want> // looked at just now
}

const OWN_ENGINE: ResultEngine = { name: 'souk', version: '1', kind: 'deterministic' }

/** Every result says what made it: within its own name where it stands under one. */
function stamped(slug: string, made: Json): Json {
  if (typeof made !== 'object' || made === null || Array.isArray(made)) return made
  const own = made[slug]
  const isKeyed = Object.keys(made).length === 1 && typeof own === 'object' && own !== null && !Array.isArray(own)
  if (isKeyed) return { [slug]: { engine: { ...OWN_ENGINE }, ...own } }
  return { engine: { ...OWN_ENGINE }, ...made }
}

type Run = (signal: AbortSignal) => Promise<Json>

async function runBounded(
  { slug, timeoutMs = DEFAULT_TIMEOUT_MS }: { readonly slug: string; readonly timeoutMs?: number },
  caller: AbortSignal,
  run: Run,
): Promise<Json> {
  const signal = AbortSignal.any([caller, AbortSignal.timeout(timeoutMs)])
  try {
    signal.throwIfAborted()
    const deliverable = await Promise.race([run(signal), rejectOnAbort(signal)])
    return bounded(slug, deliverable)
  } catch (error) {
    if (error instanceof AppError && (error.code === 'input_invalid' || error.code === 'provider_failed')) throw error
    if (error instanceof EngineGone || isAbsent(error)) throw engineGone(slug, error)
    if (isBusy(error)) {
      throw new AppError('unavailable', `Too much waits for ${slug}; nothing was charged.`, {
        retryAfter: BUSY_RETRY_S,
      })
    }
    throw new AppError('provider_failed', `${slug} ${failure(error, signal)}.`, { cause: error })
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof ProgramError && error.failure === 'absent'
}

function isBusy(error: unknown): boolean {
  const isOurs = error instanceof ThreadError || error instanceof ProgramError || error instanceof BrowserError
  return isOurs && error.failure === 'busy'
}

const GONE_RETRY_S = 60

function engineGone(slug: string, cause: unknown): AppError {
  return new AppError('unavailable', `What ${slug} works with is not there at the moment; nothing was charged.`, {
    retryAfter: GONE_RETRY_S,
    cause,
  })
}

/** Its own words stay in the log: a stranger learns only that it failed, and whether time was the reason. */
function failure(error: unknown, signal: AbortSignal): string {
  const isOurs = error instanceof ThreadError || error instanceof ProgramError
  if (isOurs && error.failure === 'timeout') return 'did not finish in time'
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

export function textOf(input: JsonInput, field: string): string {
  const value = input[field]
  return typeof value === 'string' ? value : ''
}

export function wrongField(field: string, message: string, cause?: unknown): AppError {
  return new AppError('input_invalid', `${field}: ${message}`, {
    details: [{ path: field, message }],
    ...compact({ cause }),
  })
}
