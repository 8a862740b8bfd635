import { MINUTE_MS } from '../../../src/core/time.ts'
import { writtenRow } from '../../store/port.ts'
import { type Advancing, advance, putOff } from './advance.ts'
import { deals } from './rows.ts'

/** Deals processed concurrently. */
export const MAX_AT_ONCE = 64
const LONGEST_SLEEP_MS = MINUTE_MS

/** Thrown when the daemon stops. Unfinished actions are repeated at the next start. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

export type DealWork = {
  /** Starts the actions that are due. */
  readonly wake: () => void
  /** Deals in progress, by id. */
  readonly running: ReadonlyMap<string, Promise<void>>
  /** Resolves at the next change of any deal. */
  readonly changed: () => Promise<void>
  readonly close: () => Promise<void>
}

type Working = Advancing & { readonly warn: (error: unknown, job?: string) => void }

type Round = {
  readonly parts: Working
  readonly running: Map<string, Promise<void>>
  change: PromiseWithResolvers<void>
  filling: Promise<void> | undefined
  isStale: boolean
  isClosed: boolean
  timer: NodeJS.Timeout | undefined
}

/** Processes due deals, many of them concurrently. */
export function openDealWork(parts: Working): DealWork {
  const round: Round = {
    parts,
    running: new Map(),
    change: Promise.withResolvers(),
    filling: undefined,
    isStale: false,
    isClosed: false,
    timer: undefined,
  }
  const unsubscribe = parts.ctx.store.subscribe(({ writes }) => {
    if (!writes.some((write) => writtenRow(deals, write) !== undefined)) return
    round.change.resolve()
    round.change = Promise.withResolvers()
    wake(round)
  })
  return {
    wake: () => wake(round),
    running: round.running,
    changed: () => round.change.promise,
    async close() {
      round.isClosed = true
      clearTimeout(round.timer)
      unsubscribe()
      round.change.resolve()
      await Promise.allSettled([...round.running.values(), round.filling])
    },
  }
}

function wake(round: Round): void {
  round.isStale = true
  if (round.isClosed || round.filling !== undefined) return
  round.filling = fill(round)
    .catch((error: unknown) => {
      round.parts.warn(error)
      sleep(round, LONGEST_SLEEP_MS)
    })
    .finally(() => {
      round.filling = undefined
      if (round.isStale) wake(round)
    })
}

async function fill(round: Round): Promise<void> {
  const { parts, running } = round
  const { store, clock } = parts.ctx
  round.isStale = false
  const { rows } = await store.table(deals).page('due', [], { limit: MAX_AT_ONCE + running.size })
  for (const { id, next_attempt_at: at } of rows) {
    if (round.isClosed || running.size >= MAX_AT_ONCE) return
    if (running.has(id)) continue
    const ms = at - clock.wall()
    if (ms > 0) {
      sleep(round, ms)
      return
    }
    const ended = work(parts, id).finally(() => {
      running.delete(id)
      wake(round)
    })
    running.set(id, ended)
  }
}

function sleep(round: Round, ms: number): void {
  clearTimeout(round.timer)
  round.timer = setTimeout(() => wake(round), Math.min(ms, LONGEST_SLEEP_MS))
  round.timer.unref()
}

async function work({ warn, ...parts }: Working, id: string): Promise<void> {
  try {
    await advance(parts, id)
  } catch (error) {
    if (error instanceof Stopped) return
    warn(error, id)
    const said = error instanceof Error ? error.message : String(error)
    await putOff(parts, id, { error: said }).catch(warn)
  }
}
