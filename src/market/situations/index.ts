import type { EventType } from '../../model/event-types.ts'
import { marketSituations } from './market.ts'
import { peopleSituations } from './people.ts'
import type { Situation } from './scene.ts'
import { workSituations } from './work.ts'

/** For every event how it comes about, or why nobody can make it happen: the type is total. */
export const situations: Readonly<Record<EventType, Situation>> = {
  ...peopleSituations,
  ...workSituations,
  ...marketSituations,
}
