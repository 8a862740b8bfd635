import type { EventType } from '../../model/event-types.ts'
import { marketSituations } from './market.ts'
import { peopleSituations } from './people.ts'
import type { Situation } from './scene.ts'
import { workSituations } from './work.ts'

/** For each event type: how to cause it, or why it cannot be caused. */
export const situations: Readonly<Record<EventType, Situation>> = {
  ...peopleSituations,
  ...workSituations,
  ...marketSituations,
}
