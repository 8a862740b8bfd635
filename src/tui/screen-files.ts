import { join } from 'node:path'
import { compact } from '../core/record.ts'
import { nounScreens, type ScreenId, screenIds } from '../nouns/screens.ts'
import { nounScreen } from './list/nouns.ts'
import type { Screen, Tab } from './shell/screen.ts'

/* All screens, as their files declare them. The build stores the titles, and loads a file when its screen is opened. */

export const screenFiles: readonly (readonly [tab: Tab, load: () => Promise<Screen>])[] = await Promise.all(
  screenIds.map(async (id) => {
    const { title, short } = await loaded(id)
    return [compact({ id, title, short }), () => loaded(id)] as const
  }),
)

async function loaded(id: ScreenId): Promise<Screen> {
  const noun = nounScreens.find((one) => one.id === id)
  const file = noun === undefined ? join(id, 'screen.ts') : join('../nouns', noun.file)
  const exported = await import(join(import.meta.dirname, file))
  return noun === undefined ? exported.screen : nounScreen(exported[noun.name])
}
