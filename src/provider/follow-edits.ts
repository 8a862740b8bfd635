import { statSync } from 'node:fs'
import { CliError } from '../cli/exit.ts'
import { AppError } from '../core/error.ts'
import { SECOND_MS } from '../core/time.ts'
import {
  type CheckedShop,
  carryOut,
  type Offered,
  ownListings,
  planListing,
  readListing,
  type ShopHost,
} from './checked-shop.ts'
import type { ProviderLine } from './follow.ts'
import type { ShopFacts } from './notices.ts'

const LOOK_EVERY_MS = 250

type Watching = {
  /** Called before each check, since an edit can change which files belong to the program. */
  readonly files: () => readonly string[]
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
}

/**
 * Yields changed files. Finds them by polling, since editors replace files and network folders send no events. A file
 * is yielded when it has stopped changing.
 */
async function* editsOf({ files, sleep, signal }: Watching): AsyncGenerator<ReadonlySet<string>> {
  const looks = new Map(files().map((file) => [file, settledAt(stateOf(file))]))
  while (!signal.aborted) {
    await sleep(LOOK_EVERY_MS, signal)
    const edited = new Set(files().filter((file) => isEdited(looks, file)))
    if (edited.size > 0 && !signal.aborted) yield edited
  }
}

/** The state of a file when it last stopped changing, and its state at the last check. */
type Look = { readonly settled: string; readonly last: string }

function settledAt(state: string): Look {
  return { settled: state, last: state }
}

function isEdited(looks: Map<string, Look>, file: string): boolean {
  const state = stateOf(file)
  const { settled, last } = looks.get(file) ?? settledAt(state)
  const isStill = state === last
  looks.set(file, isStill ? settledAt(state) : { settled, last: state })
  return isStill && state !== settled
}

/** A value that changes with every write of the file, even of equal text. */
function stateOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs} ${found.mode}`
}

/** Makes jobs wait while the program cannot run, so that no job fails because of an unfinished edit. */
export type WorkGate = {
  readonly close: () => void
  readonly open: () => void
  /** Resolves once the gate is open or the signal is aborted. */
  readonly passed: (signal: AbortSignal) => Promise<void>
}

export function createGate(): WorkGate {
  let closed: PromiseWithResolvers<void> | undefined
  return {
    close() {
      closed ??= Promise.withResolvers()
    },
    open() {
      closed?.resolve()
      closed = undefined
    },
    async passed(signal) {
      if (closed === undefined || signal.aborted) return
      const ended = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => ended.resolve(), { once: true })
      await Promise.race([closed.promise, ended.promise])
    },
  }
}

export type Editing = {
  readonly host: ShopHost
  readonly shop: CheckedShop
  /** The listing of the file, as the instance returned it. */
  readonly listed: Offered | undefined
  readonly line: ProviderLine
  readonly gate: WorkGate
  readonly say: (facts: ShopFacts) => void
  readonly signal: AbortSignal
}

/**
 * Applies edits of the listing and the program until the signal fires. A faulty edit is reported, and the listing stays
 * as it was. While the program cannot run, jobs wait. Jobs that are already bought keep their terms.
 */
export async function followEdits(editing: Editing): Promise<void> {
  const { host, shop, signal } = editing
  const file = host.options.listing
  let { program } = shop
  const files = () => [...(file === undefined ? [] : [file]), ...program.files]
  const changes = listingChanges(editing)
  for await (const edited of editsOf({ files, sleep: host.system.sleep, signal })) {
    if (file !== undefined && edited.has(file)) changes.take()
    if (program.files.some((one) => edited.has(one))) program = takeProgram(editing) ?? program
  }
  await changes.done()
}

/** Finds the program after an edit and lets jobs run. @returns undefined if the program cannot run: then jobs wait */
function takeProgram({ shop, gate, say }: Editing) {
  try {
    const program = shop.find()
    gate.open()
    say({ event: 'reloaded', what: 'program', path: program.files[0] ?? program.path })
    return program
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    gate.close()
    say({
      event: 'withheld',
      what: 'program',
      reason: `${error.message} Jobs wait until this is fixed.`,
      again_ms: null,
    })
    return undefined
  }
}

/** Applies edits of the listing in order. Repeats a refused edit if the instance states when to retry. */
function listingChanges(editing: Editing) {
  const { host, say, signal } = editing
  let isWaiting = false
  let taking = Promise.resolve()
  const take = () => {
    taking = taking.then(() => takeListing(editing)).catch(withheld)
  }
  const withheld = (error: unknown) => {
    if (signal.aborted) return
    if (!(error instanceof CliError || error instanceof AppError)) throw error
    const waitMs = error instanceof AppError && error.retryAfter !== undefined ? error.retryAfter * SECOND_MS : null
    say({ event: 'withheld', what: 'listing', reason: wordsOf(error), again_ms: waitMs })
    if (waitMs === null || isWaiting) return
    isWaiting = true
    void host.system.sleep(waitMs, signal).then(() => {
      isWaiting = false
      if (!signal.aborted) take()
    })
  }
  return { take, done: () => taking }
}

function wordsOf(error: CliError | AppError): string {
  const facts =
    error instanceof CliError ? error.facts : (error.details ?? []).map((one) => `${one.path} ${one.message}`)
  return [error.message, ...facts].join(' ')
}

async function takeListing({ host, listed, line, say }: Editing): Promise<void> {
  const { listing: file } = host.options
  if (file === undefined || listed === undefined) return
  const written = await readListing(host.io, file)
  const plan = await line.insist(async (session) => planListing(written, await ownListings(session), listed.id))
  if (plan.change === 'unchanged') return
  const offered = await line.insist((session) => carryOut(session, plan))
  say(listedFacts(offered, plan))
}

/** The notice for a listing that matches its file. */
export function listedFacts(offered: Offered, { change, changed }: ReturnType<typeof planListing>): ShopFacts {
  const { id, name, agent_price, status } = offered
  const price = agent_price.fixed?.replace('$', '') ?? null
  return { event: 'listed', service_id: id, name, change, changed, price, status }
}
