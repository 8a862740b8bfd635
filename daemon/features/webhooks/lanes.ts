import { SECOND_MS } from '../../../src/core/time.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeliveryRow } from './rows.ts'

/** Maximum concurrent attempts. A participant has one attempt at a time per endpoint. */
export const MAX_CONCURRENT = 16
/** A participant whose last attempt took longer is slow. Slow participants share half of the slots. */
const SLOW_TRY_MS = SECOND_MS
export const MAX_SLOW_CONCURRENT = MAX_CONCURRENT / 2
/** Maximum slow participants remembered. The oldest is dropped first. */
const MAX_SLOW_KNOWN = 10_000

/** Slots for concurrent attempts. Some of them are reserved for fast participants. */
type Slots = {
  readonly isFull: () => boolean
  /** @returns the function to call when the attempt ends; undefined if no slot is free */
  readonly enter: (participant: string) => (() => void) | undefined
}

export function createSlots({ wall }: Pick<Clock, 'wall'>): Slots {
  const slow = new Set<string>()
  let taken = 0
  let slowTaken = 0

  function noteSpeed(participant: string, tookMs: number): void {
    slow.delete(participant)
    if (tookMs < SLOW_TRY_MS) return
    slow.add(participant)
    const [first] = slow
    if (slow.size > MAX_SLOW_KNOWN && first !== undefined) slow.delete(first)
  }

  return {
    isFull: () => taken >= MAX_CONCURRENT,
    enter(participant) {
      const isSlow = slow.has(participant)
      if (taken >= MAX_CONCURRENT || (isSlow && slowTaken >= MAX_SLOW_CONCURRENT)) return undefined
      taken += 1
      if (isSlow) slowTaken += 1
      const from = wall()
      return () => {
        taken -= 1
        if (isSlow) slowTaken -= 1
        noteSpeed(participant, wall() - from)
      }
    },
  }
}

/** Queue of one endpoint of one participant. */
export type Lane = { readonly participant: string; readonly url: string }

export function laneOf({ participant_id: participant, url }: DeliveryRow): Lane {
  return { participant, url }
}

export type Lanes = {
  /** Records when a lane is due. If called again, the earliest time counts. */
  readonly note: (lane: Lane, at: number) => void
  /** Starts due lanes while there are free slots. */
  readonly beginDue: (now: number) => void
  readonly busy: ReadonlyMap<string, Promise<void>>
}

/** Queues, ordered by due time. `run` must never throw. `onEnded` is called after each run. */
export function createLanes(
  clock: Pick<Clock, 'wall'>,
  { run, onEnded }: { readonly run: (lane: Lane) => Promise<void>; readonly onEnded: () => void },
): Lanes {
  const waiting = new Map<string, Lane & { readonly at: number }>()
  const busy = new Map<string, Promise<void>>()
  const slots = createSlots(clock)

  function begin(key: string, lane: Lane): void {
    const leave = slots.enter(lane.participant)
    if (!leave) return
    waiting.delete(key)
    const ended = run(lane).then(() => {
      leave()
      busy.delete(key)
      onEnded()
    })
    busy.set(key, ended)
  }

  return {
    note({ participant, url }, at) {
      const key = `${participant} ${url}`
      waiting.set(key, { participant, url, at: Math.min(at, waiting.get(key)?.at ?? at) })
    },
    beginDue(now) {
      for (const [key, lane] of waiting) {
        if (slots.isFull()) return
        if (lane.at <= now && !busy.has(key)) begin(key, lane)
      }
    },
    busy,
  }
}
