import type { Clock } from '../../ports/clock.ts'
import type { DeliveryRow } from './rows.ts'
import { createSlots } from './slots.ts'

/** What waits for one endpoint of one participant. */
export type Lane = { readonly participant: string; readonly url: string }

export function laneOf({ participant_id: participant, url }: DeliveryRow): Lane {
  return { participant, url }
}

export type Lanes = {
  /** That the head of a lane is due at this time, as far as is known: the earliest time counts. */
  readonly note: (lane: Lane, at: number) => void
  /** Begins with what is due and has room, one at a time in each lane. */
  readonly beginDue: (now: number) => void
  readonly busy: ReadonlyMap<string, Promise<void>>
}

/** Lanes with the time at which each is due. `run` never throws; `onEnded` is called behind every one of its runs. */
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
