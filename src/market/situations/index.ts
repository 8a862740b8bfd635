import type { EventType } from '../../model/event-types.ts'
import { marketSituations } from './market.ts'
import { peopleSituations } from './people.ts'
import type { Situation } from './scene.ts'
import { workSituations } from './work.ts'

/** How to cause each event, or why that is impossible; complete by type. */
export const situations: Readonly<Record<EventType, Situation>> = {
  ...peopleSituations,
  ...workSituations,
  ...marketSituations,
}
