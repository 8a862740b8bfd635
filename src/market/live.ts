import type { PastMarket } from '../cli/door.ts'
import { DAY_MS } from '../core/time.ts'
import type { Play } from './acts.ts'
import { createAgenda, diceOf } from './agenda.ts'
import { openCast } from './cast.ts'
import { planFinale } from './finale.ts'
import type { Stage } from './hand.ts'
import { openSink } from './sink.ts'
import { openStock, planWeeks } from './weeks.ts'

/** How long the history of the demo is. */
export const DEMO_MS = 98 * DAY_MS
/** The ordinary trade ends before the situations of the last days begin. */
const LAST_WEEK_MS = 8 * DAY_MS
const DICE_SEED = 20_261

/** API keys of the people, by name of their wallet. */
export type Keys = ReadonlyMap<string, { readonly address: string; readonly key: string }>

/** Months of trade up to `until`, made of nothing but requests that anybody could send. */
export async function liveDemo(past: PastMarket, until: number): Promise<Keys> {
  const stage: Stage = { url: past.url, adminKey: past.adminKey, wall: past.now }
  const sink = await openSink()
  try {
    const opened = await openCast(stage, sink.url)
    const play: Play = { ...opened, agenda: createAgenda(), dice: diceOf(DICE_SEED), now: past.now, folder: past.files }
    const stock = await openStock(play)
    planWeeks(play, stock, { from: past.now() + DAY_MS, until: until - LAST_WEEK_MS })
    planFinale({ play, stock, until, stage })
    await play.agenda.run(until, past.goTo)
    await past.goTo(until)
    return new Map(Object.values(opened.cast).map(({ name, address, key }) => [name, { address, key }]))
  } finally {
    await sink.close()
  }
}
